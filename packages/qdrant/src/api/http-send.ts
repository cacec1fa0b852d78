import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Resolve } from '@polder/kube';
import type { PeerRequest, PeerResponse, Send } from './answer.ts';
import type { Download } from './snapshots.ts';

/** Answers are small; one that is not comes from somebody else. */
const LARGEST_ANSWER = 64 * 2 ** 20;

/** Over sockets. `addressOf` says where a name of the cluster is from here; certificates are checked for the name itself. */
export const sendOverHttp =
  (addressOf: Resolve = (address) => address): Send =>
  async (request, signal) =>
    textOf(await begun(request, addressOf, signal));

/** The same for what is too large to be kept. */
export const downloadOverHttp =
  (addressOf: Resolve = (address) => address): Download =>
  async (request, signal) => {
    const message = await begun(request, addressOf, signal);
    return { status: message.statusCode ?? 0, body: message };
  };

/** Resolves when the answer begins. */
function begun(
  { method, url, headers, body, authority }: PeerRequest,
  addressOf: Resolve,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const { protocol, hostname, host, port, pathname, search } = new URL(url);
  const to = new URL(`${protocol}//${addressOf(`${hostname}:${port}`)}`);
  const options = { method, hostname: to.hostname, port: to.port, path: `${pathname}${search}`, signal };
  const all = {
    ...options,
    headers: { ...headers, host, ...(body !== undefined && { 'content-length': byteLength(body) }) },
  };
  return new Promise((resolve, reject) => {
    const sent =
      protocol === 'https:'
        ? httpsRequest({ ...all, servername: hostname, ...(authority !== undefined && { ca: authority }) }, resolve)
        : httpRequest(all, resolve);
    // Snapshots take a while to be made: a node that is gone must not be waited for meanwhile.
    sent.setSocketKeepAlive(true, KEEP_ALIVE_MS);
    sent.on('error', reject).end(body);
  });
}

const KEEP_ALIVE_MS = 15_000;

const byteLength = (text: string) => Buffer.byteLength(text);

async function textOf(message: IncomingMessage): Promise<PeerResponse> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of message) {
    const bytes = Buffer.from(part);
    size += bytes.length;
    if (size > LARGEST_ANSWER) throw new Error(`the answer is larger than ${LARGEST_ANSWER} bytes`);
    parts.push(bytes);
  }
  return { status: message.statusCode ?? 0, text: Buffer.concat(parts).toString('utf8') };
}
