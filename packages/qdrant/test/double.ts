import type { Cluster } from '@polder/doubles/qdrant';
import type { Download, PeerRequest, Send } from '../src/api/index.ts';

/** Peers of a stand-in, asked without sockets. */
export const sendTo =
  (cluster: Cluster): Send =>
  async (request, signal) => {
    const { status, body } = await answered(cluster, request, signal);
    return { status, text: Buffer.from(body).toString('utf8') };
  };

/** What is large comes in parts. */
export const downloadFrom =
  (cluster: Cluster): Download =>
  async (request, signal) => {
    const { status, body } = await answered(cluster, request, signal);
    return { status, body: inParts(body) };
  };

const PART = 1_000;

async function* inParts(body: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < body.byteLength; at += PART) yield body.subarray(at, at + PART);
}

/** A peer that hangs never answers; who asked has to be able to give up. */
function answered(cluster: Cluster, { method, url, headers, body = '' }: PeerRequest, signal: AbortSignal) {
  const { hostname, pathname, search } = new URL(url);
  const request = { method, path: `${pathname}${search}`, headers, body: Buffer.from(body) };
  return new Promise<Awaited<ReturnType<Cluster['request']>>>((resolve, reject) => {
    signal.throwIfAborted();
    cluster.request(hostname, request).then(resolve, reject);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
