import { describe, expect, test } from 'vitest';
import { type Condition, sameStatus, setCondition } from './condition.ts';
import { summarize } from './summary.ts';

const noon = Date.UTC(2026, 0, 1, 12);
const later = noon + 60_000;
const ready = { type: 'Ready', status: 'True', reason: 'Ready', message: '' } as const;

const status = (time: string) => ({
  nodes: 3,
  conditions: [{ ...ready, lastTransitionTime: time }],
  backup: { name: 'b', lastSeen: time },
});

describe('setting a condition', () => {
  test('stamps it with whole seconds, as the API keeps them', () => {
    expect(setCondition([], ready, noon + 123)).toEqual([{ ...ready, lastTransitionTime: '2026-01-01T12:00:00Z' }]);
  });

  test('moves its time only when its status changes', () => {
    const first = setCondition([], ready, noon);
    const reworded = setCondition(first, { ...ready, reason: 'AllUp', message: '3 of 3' }, later);
    expect(reworded).toEqual([
      { ...ready, reason: 'AllUp', message: '3 of 3', lastTransitionTime: '2026-01-01T12:00:00Z' },
    ]);
    const [changed] = setCondition(reworded, { ...ready, status: 'False' }, later);
    expect(changed?.lastTransitionTime).toBe('2026-01-01T12:01:00Z');
  });

  test('keeps the others, in their order', () => {
    const others = setCondition(setCondition([], { ...ready, type: 'A' }, noon), { ...ready, type: 'B' }, noon);
    expect(setCondition(others, { ...ready, type: 'A', status: 'False' }, later).map(({ type }) => type)).toEqual([
      'A',
      'B',
    ]);
  });

  test.each(['', 'two words', '1st', 'Ends_With:', 'ümlaut'])(
    'refuses the reason %o, as the server would',
    (reason) => {
      expect(() => setCondition([], { ...ready, reason }, noon)).toThrow(/of condition Ready must match/);
    },
  );
});

describe('two statuses', () => {
  test('are the same if only times differ', () => {
    expect(sameStatus(status('now'), status('then'), ['lastSeen'])).toBe(true);
    expect(sameStatus(status('now'), status('then'))).toBe(false);
  });

  test('are the same if one leaves out what the other has undefined', () => {
    expect(sameStatus({ a: 1, b: undefined }, { a: 1 })).toBe(true);
    expect(sameStatus(undefined, {})).toBe(false);
  });

  test('differ by any other field', () => {
    expect(sameStatus(status('now'), { ...status('now'), nodes: 4 })).toBe(false);
  });
});

/** As kstatus judges an object by its conditions. */
const kstatus = (conditions: readonly Condition[]) => {
  const is = (type: string, status: string) => conditions.some((one) => one.type === type && one.status === status);
  if (is('Stalled', 'True')) return is('Reconciling', 'True') ? 'contradiction' : 'Failed';
  if (is('Reconciling', 'True')) return 'InProgress';
  return is('Ready', 'True') ? 'Current' : 'InProgress';
};

test.each([
  [{ is: 'ready' }, 'Current'],
  [{ is: 'reconciling', because: '1 of 3 nodes is up' }, 'InProgress'],
  [{ is: 'stalled', reason: 'BadSpec', because: 'replicas must not be 0' }, 'Failed'],
  [{ is: 'unknown', because: 'the cluster does not answer' }, 'InProgress'],
] as const)('an object that %o is %s to generic tools', (outcome, verdict) => {
  const before = summarize([], { is: 'stalled', reason: 'Old', because: 'old' }, 1, noon);
  const conditions = summarize(before, outcome, 2, later);
  expect(kstatus(conditions)).toBe(verdict);
  expect(conditions.map(({ type, observedGeneration }) => [type, observedGeneration])).toEqual([
    ['Ready', 2],
    ['Reconciling', 2],
    ['Stalled', 2],
  ]);
});
