import { createServer } from 'node:http';
import { Cluster, Disk, type PeerSettings } from '@polder/doubles/qdrant';
import { systemClock, VirtualClock } from '@polder/kube';
import { beforeEach, describe, expect, test } from 'vitest';
import { sendTo } from '../../test/double.ts';
import { type Door, PeerClient, type Send, sendOverHttp } from './index.ts';

const clock = new VirtualClock();
const forever = new AbortController().signal;
/** Larger than what a number holds. */
const ID = '9007199254740993';
let qdrant: Cluster;

async function run<T>(work: Promise<T>): Promise<T> {
  let isOver = false;
  work.then(
    () => (isOver = true),
    () => (isOver = true),
  );
  expect(await clock.runUntil(() => isOver, 120_000)).toBe(true);
  return work;
}

const start = (name: string, more: Partial<PeerSettings> = {}) =>
  run(qdrant.start({ uri: `http://${name}:6335`, ...more }, new Disk()));

const client = (host: string, more: Partial<Door> = {}, send: Send = sendTo(qdrant)) =>
  new PeerClient(
    { url: `http://${host}:6333`, keys: [], ...more },
    { send, clock, readTimeoutMs: 5_000, writeTimeoutMs: 30_000 },
    forever,
  );

beforeEach(async () => {
  qdrant = new Cluster({ clock, random: () => 0.5 });
});

async function put(host: string, path: string, body: object): Promise<void> {
  const request = { method: 'PUT', path, headers: {}, body: Buffer.from(JSON.stringify(body)) };
  const { status } = await run(qdrant.request(host, request));
  expect(status).toBe(200);
}

describe('a peer is asked', () => {
  beforeEach(async () => {
    await start('a', { peerId: ID });
    await start('b', { bootstrap: 'http://a:6335', peerId: '22' });
    await clock.advance(5_000);
    await put('a', '/collections/points', {
      vectors: { size: 4, distance: 'Dot' },
      shard_number: 1,
      replication_factor: 2,
    });
  });

  test('what it is, whom it knows and who leads, with all digits of every id', async () => {
    expect(await run(client('a').version())).toEqual({ is: 'ok', value: '1.19.0' });
    expect(await run(client('b').cluster())).toMatchObject({
      is: 'ok',
      value: {
        id: '22',
        members: new Map([
          [ID, 'http://a:6335/'],
          ['22', 'http://b:6335/'],
        ]),
        leader: ID,
        role: 'Follower',
        isVoter: true,
        consensus: { is: 'working' },
        unreached: [],
      },
    });
  });

  test('where the shards of its collections are', async () => {
    expect(await run(client('a').collections())).toEqual({ is: 'ok', value: ['points'] });
    const replicas = [
      { shard: 0, peer: ID, state: 'Active', points: 0 },
      { shard: 0, peer: '22', state: 'Active' },
    ];
    expect(await run(client('a').distribution('points'))).toEqual({
      is: 'ok',
      value: { collection: 'points', shardCount: 1, replicas, transfers: [] },
    });
    expect(await run(client('a').factors('points'))).toEqual({
      is: 'ok',
      value: { replication: 2, writeConsistency: 1 },
    });
  });

  test('to drop, to copy and to move a shard, and to let a peer go', async () => {
    expect(await run(client('a').drop('points', 0, '22'))).toEqual({ is: 'ok', value: true });
    await clock.advance(1_000);
    expect(await run(client('b').replicate({ collection: 'points', shard: 0, from: ID, to: '22' }))).toMatchObject({
      is: 'ok',
    });
    await clock.advance(10_000);
    expect(await run(client('a').drop('points', 0, ID))).toMatchObject({ is: 'ok' });
    await clock.advance(1_000);
    expect(await run(client('a').move({ collection: 'points', shard: 0, from: '22', to: ID }))).toMatchObject({
      is: 'ok',
    });
    await clock.advance(10_000);
    expect(await run(client('a').removePeer('22'))).toEqual({ is: 'ok', value: true });
    expect(qdrant.requests.at(-1)?.path).toContain('force=false');
  });

  test('and what it refuses is a value, with its reason', async () => {
    expect(await run(client('a').removePeer('22'))).toEqual({
      is: 'refused',
      status: 400,
      because: 'Bad request: Cannot remove peer 22 as there are shards on it',
    });
    expect(await run(client('a').distribution('none'))).toMatchObject({ is: 'refused', status: 404 });
  });

  test('and a change that nobody agrees to in time may still come', async () => {
    qdrant.peerAt('http://b:6335')?.stop();
    await clock.advance(10_000);
    const answer = await run(client('a').drop('points', 0, '22'));
    expect(answer).toMatchObject({ is: 'ambiguous', because: expect.stringContaining('Timeout set at: 10 seconds') });
  });
});

test('a peer that is not there, hangs, or answers with half a body is out of reach, and nothing is thrown', async () => {
  expect(await run(client('a').cluster())).toEqual({ is: 'unreachable', because: 'connect ECONNREFUSED a:6333' });
  await start('a');
  qdrant.setFaults('http://a:6335', { isHung: true });
  expect(await run(client('a').cluster())).toMatchObject({
    is: 'unreachable',
    because: 'GET /cluster took longer than 5000 ms',
  });
  const cut: Send = async () => ({ status: 200, text: '{"result":{"peer_id":1' });
  expect(await run(client('a', {}, cut).cluster())).toMatchObject({ is: 'unreachable' });
  expect(await run(client('a', {}, cut).removePeer('1'))).toMatchObject({ is: 'ambiguous' });
  const partial: Send = async () => ({
    status: 200,
    text: '{"result":{"peer_id":1,"shard_count":1,"local_shards":[{}]}}',
  });
  expect(await run(client('a', {}, partial).distribution('c'))).toMatchObject({ is: 'unreachable' });
});

test('a write that was not answered may have been done', async () => {
  await start('a');
  qdrant.setFaults('http://a:6335', { answer: () => 'close-after' });
  expect(await run(client('a').removePeer('5'))).toMatchObject({ is: 'ambiguous' });
});

test('while peers change their key, both are tried; with neither, the peer says that they are wrong', async () => {
  await start('a', { apiKey: 'old' });
  expect(await run(client('a', { keys: ['new', 'old'] }).cluster())).toMatchObject({ is: 'ok' });
  expect(await run(client('a', { keys: ['new'] }).cluster())).toEqual({
    is: 'unauthorized',
    because: 'Invalid API key or JWT',
  });
});

test('a consensus that stopped is told with its cause, and without what changes from call to call', async () => {
  const text = JSON.stringify({
    result: {
      status: 'enabled',
      peer_id: 1,
      peers: {},
      raft_info: { leader: 0, role: 'Candidate' },
      consensus_thread_status: {
        consensus_thread_status: 'stopped_with_err',
        err: 'no space; restarting consensus thread (attempt 2, next attempt in 2 sec)',
      },
    },
  });
  const answer = await run(client('a', {}, async () => ({ status: 200, text })).cluster());
  expect(answer).toMatchObject({
    is: 'ok',
    value: { leader: undefined, consensus: { is: 'stopped', because: 'no space' } },
  });
});

test('over sockets, a name of the cluster is asked for where it is', async () => {
  const server = createServer((request, response) => {
    response.end(JSON.stringify({ version: `${request.headers.host}${request.url}` }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const bound = server.address();
  const port = typeof bound === 'object' ? bound?.port : 0;
  const send = sendOverHttp((address) => (address === 'a.shop:6333' ? `127.0.0.1:${port}` : address));
  const options = { send, clock: systemClock, readTimeoutMs: 5_000, writeTimeoutMs: 5_000 };
  const peer = new PeerClient({ url: 'http://a.shop:6333', keys: [] }, options, forever);
  expect(await peer.version()).toEqual({ is: 'ok', value: 'a.shop:6333/' });
  await new Promise((resolve) => server.close(resolve));
});
