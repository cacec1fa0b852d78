import { readFileSync } from 'node:fs';
import { Agent, type RequestOptions, request } from 'node:https';
import { type Transport, TransportError, type TransportResponse } from '@polder/kube';
import { parse } from 'yaml';

interface Kubeconfig {
  readonly clusters: readonly {
    readonly cluster: { readonly server: string; readonly 'certificate-authority-data': string };
  }[];
  readonly users: readonly {
    readonly user: { readonly 'client-certificate-data': string; readonly 'client-key-data': string };
  }[];
}

/** The transport to the one cluster of a kubeconfig with client certificates. */
export function kubeconfigTransport(path: string): Transport {
  const kubeconfig: Kubeconfig = parse(readFileSync(path, 'utf8'));
  const cluster = kubeconfig.clusters[0]?.cluster;
  const user = kubeconfig.users[0]?.user;
  if (!cluster || !user) throw new Error(`${path} names no cluster or no user`);
  const decode = (data: string) => Buffer.from(data, 'base64');
  const agent = new Agent({
    keepAlive: true,
    ca: decode(cluster['certificate-authority-data']),
    cert: decode(user['client-certificate-data']),
    key: decode(user['client-key-data']),
  });
  return {
    request: ({ method, path, headers, body, signal }) =>
      new Promise<TransportResponse>((resolve, reject) => {
        // Node sends the body of a DELETE bare, and the server takes it for the next request, unless its length is given.
        const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
        const options: RequestOptions = {
          method,
          headers: { ...headers, ...length },
          agent,
          ...(signal && { signal }),
        };
        const call = request(`${cluster.server}${path}`, options, (response) => {
          const text = async () => {
            response.setEncoding('utf8');
            let all = '';
            for await (const part of response) all += String(part);
            return all;
          };
          resolve({
            status: response.statusCode ?? 0,
            headers: Object.fromEntries(
              Object.entries(response.headers).map(([name, value]) => [
                name,
                Array.isArray(value) ? value.join(', ') : value,
              ]),
            ),
            text,
            chunks: () => response,
            discard: async () => void response.destroy(),
          });
        });
        call.on('error', (cause) => reject(new TransportError(cause.message, { sent: true, cause })));
        call.end(body);
      }),
    close: async () => agent.destroy(),
  };
}
