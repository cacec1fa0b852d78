import { readFileSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Agent, createServer, request } from 'node:https';
import { dirname, join } from 'node:path';
import { kubeconfig } from '@polder/kube';
import type { ControlPlane } from '../../tools/control-plane/start.ts';

/** One request, as it came by. */
export interface Call {
  readonly method: string;
  /** `deployments`, `dataflows/status`. */
  readonly resource: string;
  /** Without a query. */
  readonly path: string;
  readonly at: number;
}

export interface MeteringProxy {
  /** Reaches the API server through the proxy. */
  readonly kubeconfig: string;
  /** All so far, watches included. */
  readonly calls: readonly Call[];
  /** Of the bodies of requests and answers, as they are on the wire. */
  readonly bytes: () => number;
  close(): void;
}

/**
 * Stands between an operator and the API server, with the server's own certificate, so that the operator pays for TLS as ever.
 * It knows all that is asked and answered, whatever the operator believes.
 */
export async function meteringProxy(cluster: ControlPlane): Promise<MeteringProxy> {
  const { ca, cert, key } = await (await kubeconfig([cluster.kubeconfig])).access();
  const agent = new Agent({ keepAlive: true, ca, cert, key });
  const calls: Call[] = [];
  let bytes = 0;
  const count = (chunk: Buffer) => {
    bytes += chunk.length;
  };
  const pass = (asked: IncomingMessage, answer: ServerResponse) => {
    const { method = '', url = '', headers } = asked;
    const [path = ''] = url.split('?');
    calls.push({ method, resource: resourceOf(url), path, at: performance.now() });
    const upstream = request(`${cluster.url}${url}`, { agent, method, headers }, (answered) => {
      answer.writeHead(answered.statusCode ?? 502, answered.headers);
      answered.on('data', count).pipe(answer);
      // A watch may be silent for long: whoever waits for it wants to know that it has begun.
      answer.flushHeaders();
    });
    upstream.on('error', () => answer.destroy());
    answer.on('close', () => upstream.destroy());
    asked.on('data', count).pipe(upstream);
  };
  const folder = dirname(cluster.kubeconfig);
  const file = (name: string) => readFileSync(join(folder, name));
  const server = createServer({ cert: file('apiserver.crt'), key: file('apiserver.key') }, pass);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const path = `${cluster.kubeconfig}.metered`;
  writeFileSync(path, readFileSync(cluster.kubeconfig, 'utf8').replaceAll(cluster.url, `https://127.0.0.1:${port}`));
  return {
    kubeconfig: path,
    calls,
    bytes: () => bytes,
    close() {
      server.closeAllConnections();
      server.close();
      agent.destroy();
    },
  };
}

const PATH = /^\/(?:api|apis\/[^/]+)\/v[^/]+(?:\/namespaces\/[^/]+(?=\/))?\/([^/?]+)(?:\/[^/?]+(\/[^/?]+)?)?/;

/** What a path is about: the kind in its plural, and the part of the object if it is only a part. */
export function resourceOf(path: string): string {
  const [, plural = path, part = ''] = PATH.exec(path) ?? [];
  return `${plural}${part}`;
}
