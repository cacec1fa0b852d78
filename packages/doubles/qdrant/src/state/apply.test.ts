/** What entries make of the state, beyond what the suites over a whole cluster see. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { apply } from './apply.ts';
import { type ClusterState, EMPTY, peersIn, shardsOf } from './cluster-state.ts';
import type { Entry } from './entry.ts';

const PEERS = ['1', '2', '3'];
const peer = fc.constantFrom(...PEERS);
const shard = fc.constantFrom(0, 1);
/** A transfer to where it comes from is refused before it becomes an entry. */
const between = fc
  .record({ collection: fc.constant('a'), shard, from: peer, to: peer })
  .filter(({ from, to }) => from !== to);
const method = fc.constantFrom('stream_records' as const, 'snapshot' as const, 'wal_delta' as const);

/** What users and peers send when nobody removes a peer or a collection. */
const entry: fc.Arbitrary<Entry> = fc.oneof(
  fc
    .tuple(between, fc.boolean(), method)
    .map(([key, sync, method]) => ({ do: 'start-transfer' as const, ...key, sync, method })),
  between.map((key) => ({ do: 'recovered-transfer' as const, ...key })),
  between.map((key) => ({ do: 'finish-transfer' as const, ...key })),
  between.map((key) => ({ do: 'abort-transfer' as const, ...key })),
  fc
    .tuple(shard, peer)
    .map(([shard, peer]) => ({ do: 'set-replica' as const, collection: 'a', shard, peer, to: 'Dead' as const })),
  fc.tuple(shard, peer).map(([shard, peer]) => ({ do: 'drop-replica' as const, collection: 'a', shard, peer })),
);

const start: ClusterState = {
  ...EMPTY,
  peers: Object.fromEntries(PEERS.map((id) => [id, `http://p${id}:6335/`])),
  collections: {
    a: {
      serial: 1,
      name: 'a',
      config: {},
      shards: [
        { id: 0, replicas: { '1': 'Active', '2': 'Active' } },
        { id: 1, replicas: { '2': 'Active', '3': 'Active' } },
      ],
      transfers: [],
      indexes: {},
    },
  },
  serial: 1,
};

const after = (entries: readonly Entry[]) =>
  entries.reduce((state, entry) => {
    const applied = apply(state, entry);
    return applied.is === 'broken' ? state : applied.state;
  }, start);

test('no sequence of transfers, aborts, deaths and drops leaves a shard without an active replica', () => {
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 60 }), (entries) => {
      for (const { shard } of shardsOf(after(entries))) expect(peersIn(shard, 'Active')).not.toEqual([]);
    }),
  );
});

test('a shard is in one transfer at most, from an active replica to one that is being filled', () => {
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 60 }), (entries) => {
      const { shards = [], transfers = [] } = after(entries).collections['a'] ?? {};
      expect(new Set(transfers.map(({ shard }) => shard)).size).toBe(transfers.length);
      for (const { shard, from, to } of transfers) {
        const replicas = shards.find(({ id }) => id === shard)?.replicas ?? {};
        expect(replicas[from]).toBe('Active');
        expect(['Partial', 'Recovery']).toContain(replicas[to]);
      }
    }),
  );
});

test('a state is never changed in place: views of the past stay as they were', () => {
  const before = structuredClone(start);
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 30 }), (entries) => {
      after(entries);
      expect(start).toEqual(before);
    }),
  );
});

test('a peer that is removed takes its replicas with it, and ends what they were part of', () => {
  const moving = after([
    { do: 'start-transfer', collection: 'a', shard: 0, from: '1', to: '3', sync: true, method: 'snapshot' },
  ]);
  const removed = apply(moving, { do: 'remove-peer', peer: '1' });
  expect(removed).toMatchObject({ is: 'done' });
  const { collections, peers } = removed.is === 'done' ? removed.state : start;
  expect(Object.keys(peers)).toEqual(['2', '3']);
  expect(collections['a']?.transfers).toEqual([]);
  expect(collections['a']?.shards[0]?.replicas).toEqual({ '2': 'Active', '3': 'Dead' });
});
