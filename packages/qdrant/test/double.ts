import type { Cluster } from '@polder/doubles/qdrant';
import type { Send } from '../src/api/index.ts';

/** Peers of a stand-in, asked without sockets. */
export const sendTo =
  (cluster: Cluster): Send =>
  ({ method, url, headers, body = '' }, signal) => {
    const { hostname, pathname, search } = new URL(url);
    const request = { method, path: `${pathname}${search}`, headers, body: Buffer.from(body) };
    const answered = cluster
      .request(hostname, request)
      .then((response) => ({ status: response.status, text: Buffer.from(response.body).toString('utf8') }));
    // A peer that hangs never answers; who asked has to be able to give up.
    return new Promise((resolve, reject) => {
      answered.then(resolve, reject);
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
  };
