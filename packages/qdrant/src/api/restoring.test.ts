import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { systemClock } from '@polder/kube';
import { afterEach, expect, test } from 'vitest';
import { type PeerRequest, RestoreClient, type Send, sendOverHttp } from './index.ts';

const forever = new AbortController().signal;
const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

const client = (send: Send, url = 'http://a:6333', keys: readonly string[] = []) =>
  new RestoreClient({ url, keys }, { send, clock: systemClock, readTimeoutMs: 5_000, writeTimeoutMs: 5_000 }, forever);

/** A server that answers by what it is asked. */
async function serving(answer: (request: IncomingMessage, body: Buffer) => { status: number; text: string }) {
  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    const body = Buffer.concat(await Array.fromAsync(request, (part: Uint8Array) => part));
    const { status, text } = answer(request, body);
    response.writeHead(status).end(text);
  };
  // One that is cut off is nobody's any more.
  const server = createServer((request, response) => void respond(request, response).catch(() => {}));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => server.close());
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
}

test('a file goes to a shard as a form, in parts, with its length and its checksum; the file counts', async () => {
  const file = Buffer.alloc(300_000, 'snapshot');
  const sha256 = createHash('sha256').update(file).digest('hex');
  const seen: { url: string | undefined; length: string | undefined; type: string; body: Buffer }[] = [];
  let opened = 0;
  const url = await serving(({ url, headers }, body) => {
    seen.push({ url, length: headers['content-length'], type: headers['content-type'] ?? '', body });
    return headers['api-key'] === 'new'
      ? { status: 200, text: '{"result":null,"status":"ok"}' }
      : { status: 401, text: 'Invalid API key or JWT' };
  });
  const stream = {
    bytes: file.length,
    async *read() {
      opened++;
      for (let at = 0; at < file.length; at += 64_000) yield file.subarray(at, at + 64_000);
    },
  };
  const answer = await client(sendOverHttp(), url, ['old', 'new']).upload({
    collection: 'points',
    shard: 3,
    sha256,
    file: stream,
  });
  expect(answer).toEqual({ is: 'ok', value: null });
  expect(opened).toBe(2);
  const [, last] = seen;
  expect(last?.url).toBe(
    `/collections/points/shards/3/snapshots/upload?wait=true&priority=snapshot&checksum=${sha256}`,
  );
  expect(last?.length).toBe(String(last?.body.length));
  const form = await new Response(last?.body ?? '', { headers: { 'content-type': last?.type ?? '' } }).formData();
  const sent = form.get('snapshot');
  expect(sent instanceof Blob && Buffer.from(await sent.arrayBuffer()).equals(file)).toBe(true);
});

test('a file that can not be read to its end is no upload that anybody knows the end of', async () => {
  const url = await serving(() => ({ status: 200, text: '{"result":null}' }));
  const broken = { next: async () => Promise.reject(new Error('the bucket is gone')) };
  const file = { bytes: 10, read: () => ({ [Symbol.asyncIterator]: () => broken }) };
  const answer = await client(sendOverHttp(), url).upload({ collection: 'points', shard: 0, sha256: 'a', file });
  expect(answer).toMatchObject({ is: 'ambiguous' });
});

test('points are passed on as they are, with every digit of every number, and nothing that is not theirs', async () => {
  const sent: PeerRequest[] = [];
  const point =
    '{"id":18446744073709551615,"vector":{"a":[0.1,1e-7,-0.30000001192092896],"words":{"indices":[1],"values":[1.0]}},"payload":{"big":9223372036854775807,"text":"x"}}';
  const send: Send = async (request) => {
    sent.push(request);
    const withMore = point.replace(/}$/, ',"shard_key":null,"order_value":1}');
    const page = `{"result":{"points":[${withMore}],"next_page_offset":18446744073709551616}}`;
    return { status: 200, text: request.url.includes('scroll') ? page : '{"result":{"status":"completed"}}' };
  };
  const scrolled = await client(send).scroll('points', 100, '18446744073709551614');
  if (scrolled.is !== 'ok') throw new Error(scrolled.because);
  expect(scrolled.value.next).toBe('18446744073709551616');
  await client(send).upsert('points', scrolled.value.points);
  expect(sent.map(({ body }) => body)).toEqual([
    '{"limit":100,"with_payload":true,"with_vector":true,"offset":18446744073709551614}',
    `{"points":[${point}]}`,
  ]);
});
