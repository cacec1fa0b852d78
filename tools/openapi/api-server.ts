import { kubeconfig, socketTransport, type Transport, type TransportRequest } from '@polder/kube/client';

/** The API server that a kubeconfig's current context names, read as it is: no caches, no types. */
export class ApiServer {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  static async of(kubeconfigFile: string): Promise<ApiServer> {
    return new ApiServer(socketTransport(await kubeconfig([kubeconfigFile])));
  }

  async read(path: string, accept = 'application/json'): Promise<string> {
    const { status, text } = await this.send('GET', path, { accept });
    if (status !== 200) throw new Error(`GET ${path}: ${status}: ${text.slice(0, 300)}`);
    return text;
  }

  async send(
    method: TransportRequest['method'],
    path: string,
    headers: Readonly<Record<string, string>>,
    body?: string,
  ): Promise<Answer> {
    const response = await this.#transport.request({ method, path, headers, body });
    return { status: response.status, text: await response.text(), date: response.headers['date'] ?? '' };
  }

  close(): Promise<void> {
    return this.#transport.close();
  }
}

export interface Answer {
  readonly status: number;
  readonly text: string;
  /** The server's clock. */
  readonly date: string;
}
