import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { parse } from 'yaml';

/** Speaks to the API server that a kubeconfig's current context names. Client certificates only. */
export class ApiServer {
  readonly #server: string;
  readonly #tls: { readonly ca: Buffer; readonly cert: Buffer; readonly key: Buffer };

  constructor(kubeconfigFile: string) {
    const config: Kubeconfig = parse(readFileSync(kubeconfigFile, 'utf8'));
    const context = config.contexts.find(({ name }) => name === config['current-context'])?.context;
    const cluster = config.clusters.find(({ name }) => name === context?.cluster)?.cluster;
    const user = config.users.find(({ name }) => name === context?.user)?.user;
    if (!cluster || !user) throw new Error(`${kubeconfigFile}: current-context names no cluster with a user`);
    this.#server = cluster.server;
    this.#tls = {
      ca: bytes(cluster['certificate-authority-data'], cluster['certificate-authority']),
      cert: bytes(user['client-certificate-data'], user['client-certificate']),
      key: bytes(user['client-key-data'], user['client-key']),
    };
  }

  async read(path: string, accept = 'application/json'): Promise<string> {
    const { status, text } = await this.send('GET', path, { accept });
    if (status !== 200) throw new Error(`GET ${path}: ${status}: ${text.slice(0, 300)}`);
    return text;
  }

  send(method: string, path: string, headers: Record<string, string>, body = ''): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const call = request(new URL(path, this.#server), { ...this.#tls, method, headers }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8');
          resolve({ status: response.statusCode ?? 0, text, date: response.headers.date ?? '' });
        });
      });
      call.on('error', reject);
      call.end(body);
    });
  }
}

export interface Answer {
  readonly status: number;
  readonly text: string;
  /** The server's clock. */
  readonly date: string;
}

interface Kubeconfig {
  readonly 'current-context': string;
  readonly contexts: readonly { name: string; context: { cluster: string; user: string } }[];
  readonly clusters: readonly { name: string; cluster: { server: string } & Credentials }[];
  readonly users: readonly { name: string; user: Credentials }[];
}

type Credentials = { readonly [field: string]: string };

function bytes(data: string | undefined, file: string | undefined): Buffer {
  if (data !== undefined) return Buffer.from(data, 'base64');
  if (file !== undefined) return readFileSync(file);
  throw new Error('the kubeconfig has no client certificate (or its authority): use the one of the control plane');
}
