import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:https';
import { Cluster, Disk } from '@polder/doubles/qdrant';
import { createAuthority, issue, systemClock, VirtualClock } from '@polder/kube';
import { beforeEach, expect, test } from 'vitest';
import { downloadFrom, sendTo } from '../../test/double.ts';
import { downloadOverHttp, sendOverHttp } from './http-send.ts';
import { type Download, SnapshotsClient } from './snapshots.ts';

const forever = new AbortController().signal;
const timeouts = { readTimeoutMs: 5_000, writeTimeoutMs: 30_000 };

let clock: VirtualClock;
let qdrant: Cluster;
beforeEach(async () => {
  clock = new VirtualClock();
  qdrant = new Cluster({ clock, random: () => 0.5 });
  await run(qdrant.start({ uri: 'http://a:6335', apiKey: 'new' }, new Disk()));
  const create = JSON.stringify({ vectors: { size: 4, distance: 'Dot' }, shard_number: 1 });
  const request = {
    method: 'PUT',
    path: '/collections/points',
    headers: { 'api-key': 'new' },
    body: Buffer.from(create),
  };
  await run(qdrant.request('a', request));
});

/** Moves the clock on until it is there. */
async function run<T>(work: Promise<T>): Promise<T> {
  const over = new AbortController();
  work.finally(() => over.abort()).catch(() => {});
  for (let i = 0; i < 3_000 && !over.signal.aborted; i++) await clock.advance(100);
  return work;
}

function client(keys: readonly string[] = ['old', 'new'], download: Download = downloadFrom(qdrant)): SnapshotsClient {
  return new SnapshotsClient(
    { url: 'http://a:6333', keys },
    { send: sendTo(qdrant), download, clock, ...timeouts },
    forever,
  );
}

test('a snapshot is made, listed, read as it was announced, and removed, with whichever key opens the peer', async () => {
  const taken = await run(client().create('points', 0));
  if (taken.is !== 'ok') throw new Error(taken.because);
  expect(await run(client().list('points', 0))).toEqual({ is: 'ok', value: [taken.value.name] });
  const read = await run(client().download('points', 0, taken.value.name));
  const bytes = Buffer.concat(await Array.fromAsync(read.is === 'ok' ? read.value : []));
  expect(bytes.byteLength).toBe(taken.value.bytes);
  expect(createHash('sha256').update(bytes).digest('hex')).toBe(taken.value.sha256);
  expect(await run(client().remove('points', 0, taken.value.name))).toMatchObject({ is: 'ok' });
  expect(await run(client().list('points', 0))).toEqual({ is: 'ok', value: [] });
  expect(await run(client().download('points', 0, taken.value.name))).toMatchObject({ is: 'refused', status: 404 });
});

test('what is not there, or not opened, is a value', async () => {
  expect(await run(client().create('points', 7))).toMatchObject({ is: 'refused', status: 404 });
  expect(await run(client(['old']).create('points', 0))).toMatchObject({ is: 'unauthorized' });
  expect(await run(client(['old']).download('points', 0, 'x'))).toMatchObject({ is: 'unauthorized' });
  qdrant.peers[0]?.stop();
  expect(await run(client().download('points', 0, 'x'))).toMatchObject({ is: 'unreachable' });
  expect(await run(client().create('points', 0))).toMatchObject({ is: 'ambiguous' });
});

test('a collection is told with what a snapshot has not: its configuration and its aliases', async () => {
  const described = await run(client().describe('points'));
  expect(described).toMatchObject({ is: 'ok', value: { config: { params: { shard_number: 1 } }, aliases: [] } });
});

test('a download of which nothing comes any more is given up; one that is read slowly is not', async () => {
  async function* stuck(signal: AbortSignal): AsyncGenerator<Uint8Array> {
    yield Buffer.from('half');
    await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));
  }
  const begun = await client(['new'], async (_, signal) => ({ status: 200, body: stuck(signal) })).download(
    'points',
    0,
    'x',
  );
  const parts = begun.is === 'ok' ? begun.value[Symbol.asyncIterator]() : undefined;
  await parts?.next();
  await clock.advance(600_000);
  const rest = parts?.next();
  rest?.catch(() => {});
  await clock.advance(61_000);
  await expect(rest).rejects.toThrow('nothing of GET /collections/points/shards/0/snapshots/x came for 60 s');
  expect(clock.pending).toBe(0);
});

test('over TLS, a peer is believed by its own authority alone', async () => {
  const validMs = 3_600_000;
  const now = Date.now();
  const [authority, other] = [
    await createAuthority({ name: 'ours', validMs, now }),
    await createAuthority({ name: 'theirs', validMs, now }),
  ];
  const pair = await issue(authority, { name: 'a', use: 'peer', dnsNames: ['a.shop'], validMs, now });
  const server = createServer(
    { cert: pair.certificate, key: pair.key },
    (_, response) => void response.end('a snapshot'),
  );
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const bound = server.address();
  const resolve = () => `127.0.0.1:${typeof bound === 'object' ? bound?.port : 0}`;
  const options = { send: sendOverHttp(resolve), download: downloadOverHttp(resolve), clock: systemClock, ...timeouts };
  const through = (trusted: string) =>
    new SnapshotsClient({ url: 'https://a.shop:6333', keys: [], authority: trusted }, options, forever);
  const begun = await through(authority.certificate).download('points', 0, 'x');
  expect(Buffer.concat(await Array.fromAsync(begun.is === 'ok' ? begun.value : [])).toString()).toBe('a snapshot');
  expect(await through(other.certificate).download('points', 0, 'x')).toMatchObject({ is: 'unreachable' });
  await new Promise((closed) => server.close(closed));
});
