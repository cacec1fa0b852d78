import { describe, expect, test } from 'vitest';
import { idOf, type Look, look, NOW } from '../../../test/states.ts';
import type { QdrantCluster } from '../../kinds/index.ts';
import { DEFAULTS } from '../../settings.ts';
import { planCluster } from './index.ts';

type Status = NonNullable<QdrantCluster['status']>;

/** One copy of each shard is missing. */
const WOUNDED: Look = { shards: [[0], [0, 1]] };

function plan(transfers: Status['transfers'], at: Date, given: Look = WOUNDED) {
  const { cluster, observed } = look(given);
  const status = { ...cluster.status, ...(transfers && { transfers }) };
  return planCluster({ ...cluster, status }, observed, DEFAULTS, at);
}

const later = (ms: number) => new Date(NOW.getTime() + ms);
const sent = ({ steps }: ReturnType<typeof plan>) => steps.filter((step) => step.do === 'replicate-shard');

describe('a shard that was sent on its way and did not arrive', () => {
  test('is sent again, after twice as long each time, from half a minute to ten', () => {
    let transfers: Status['transfers'];
    let at = NOW;
    const waits: number[] = [];
    for (let attempt = 0; attempt < 8; attempt++) {
      const first = plan(transfers, at);
      expect(sent(first)).toHaveLength(1);
      transfers = first.status.transfers;
      const waited = [1_000, 29_000, 59_000, 119_000, 239_000, 479_000, 599_000].find(
        (ms) => sent(plan(transfers, new Date(at.getTime() + ms + 1_000))).length > 0,
      );
      expect(sent(plan(transfers, new Date(at.getTime() + (waited ?? 0))))).toEqual([]);
      waits.push(((waited ?? 0) + 1_000) / 1_000);
      at = new Date(at.getTime() + (waited ?? 0) + 1_000);
    }
    expect(waits).toEqual([30, 60, 120, 240, 480, 600, 600, 600]);
  });

  test('waits under a rule that shows', () => {
    const { transfers } = plan(undefined, NOW).status;
    expect(transfers).toEqual([
      { collection: 'points', shard: 0, to: idOf(2), attempts: 1, lastTime: '2026-03-01T12:00:00Z' },
    ]);
    expect(plan(transfers, later(2_000)).status.holding).toEqual([
      'replicate-shard is held by a-transfer-that-vanished-waits: shard 0 of points was sent on its way and has not arrived; it is sent again at 2026-03-01T12:00:30Z',
    ]);
  });

  test('is forgotten once it is there, and kept while nobody can say', () => {
    const { transfers } = plan(undefined, NOW).status;
    expect(
      plan(transfers, later(2_000), {
        shards: [
          [0, 2],
          [0, 1],
        ],
      }).status.transfers,
    ).toBeUndefined();
    const blind = { ...WOUNDED, views: { 0: { leader: undefined } } };
    expect(plan(transfers, later(2_000), blind).status.transfers).toEqual(transfers);
  });
});
