import type { Pod, PodDisruptionBudget } from '@polder/kube';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { planBudget } from './plan.ts';

const NOW = new Date('2026-01-01T01:00:00Z');
const ago = (seconds: number) => new Date(NOW.getTime() - seconds * 1000).toISOString().replace(/\.\d+/, '');

const budget = (
  spec: PodDisruptionBudget['spec'],
  status: PodDisruptionBudget['status'] = {},
): PodDisruptionBudget => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: 'b', namespace: 'n', generation: 3 },
  spec: { selector: {}, ...spec },
  status,
});
const pod = (name: string, isReady: boolean, isGoing = false): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, ...(isGoing && { deletionTimestamp: ago(1) }) },
  status: { conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }] },
});
const scale = (count: number) => ({ known: true, value: { count, unmanaged: [] } }) as const;
const statusOf = (...planned: Parameters<typeof planBudget>) => {
  const plan = planBudget(...planned);
  return plan.steps[0]?.status ?? plan.status;
};

const anyPods = fc
  .array(fc.record({ isReady: fc.boolean(), isGoing: fc.boolean(), disruptedAgo: fc.option(fc.nat({ max: 300 })) }), {
    maxLength: 12,
  })
  .map((all) => all.map((one, i) => ({ ...one, name: `p-${i}` })));
const anyAmount = fc.oneof(
  fc.nat({ max: 14 }),
  fc.nat({ max: 120 }).map((part) => `${part}%`),
);

test('never more evictions are allowed than leave what the budget asks for, and as many as that', () => {
  fc.assert(
    fc.property(anyPods, anyAmount, fc.boolean(), fc.nat({ max: 14 }), (pods, limit, isMaximum, count) => {
      const disrupted = pods.filter(({ disruptedAgo }) => disruptedAgo !== null);
      const disruptedPods = Object.fromEntries(disrupted.map((one) => [one.name, ago(one.disruptedAgo ?? 0)]));
      const guarded = budget(isMaximum ? { maxUnavailable: limit } : { minAvailable: limit }, { disruptedPods });
      const all = pods.map(({ name, isReady, isGoing }) => pod(name, isReady, isGoing));
      const status = statusOf(guarded, { pods: all, scale: scale(count) }, NOW);

      const isCounted = (one: (typeof pods)[number]) =>
        one.isReady && !one.isGoing && (one.disruptedAgo === null || one.disruptedAgo >= 120);
      const healthy = pods.filter(isCounted).length;
      const expected = isMaximum || typeof limit === 'string' ? count : pods.length;
      const share = typeof limit === 'number' ? limit : Math.ceil((Number.parseInt(limit, 10) * expected) / 100);
      const needed = isMaximum ? Math.max(0, expected - share) : share;
      expect(status).toMatchObject({ currentHealthy: healthy, expectedPods: expected, desiredHealthy: needed });
      const { disruptionsAllowed = 0 } = status;
      expect(disruptionsAllowed).toBe(expected === 0 ? 0 : Math.max(0, healthy - needed));
      if (disruptionsAllowed > 0) expect(healthy - disruptionsAllowed).toBeGreaterThanOrEqual(needed);
      expect(status.conditions).toMatchObject([
        { type: 'DisruptionAllowed', status: disruptionsAllowed > 0 ? 'True' : 'False', observedGeneration: 3 },
      ]);
    }),
  );
});

test('a status that says so already is not written again', () => {
  fc.assert(
    fc.property(anyPods, anyAmount, fc.nat({ max: 14 }), (pods, maxUnavailable, count) => {
      const observed = { pods: pods.map(({ name, isReady }) => pod(name, isReady)), scale: scale(count) };
      const written = statusOf(budget({ maxUnavailable }), observed, NOW);
      const later = new Date(NOW.getTime() + 3600_000);
      expect(planBudget(budget({ maxUnavailable }, written), observed, later).steps).toEqual([]);
    }),
  );
});

test('an evicted pod that does not go counts again after two minutes, and not before', () => {
  const guarded = budget({ minAvailable: 1 }, { disruptedPods: { a: ago(100), b: ago(119) } });
  const plan = planBudget(guarded, { pods: [pod('a', true), pod('b', true)], scale: undefined }, NOW);
  expect(plan.steps[0]?.status).toMatchObject({ currentHealthy: 0, disruptedPods: { a: ago(100), b: ago(119) } });
  expect(plan.lookAgain?.afterMs).toBe(1_000);
});

test('while nobody knows how many pods there should be, none may go', () => {
  const scale = { known: false, because: 'jobs.batch does not implement the scale subresource' } as const;
  const before = { currentHealthy: 2, desiredHealthy: 1, expectedPods: 2, disruptionsAllowed: 1 };
  const plan = planBudget(budget({ maxUnavailable: 1 }, before), { pods: [pod('a', true)], scale }, NOW);
  expect(plan.steps[0]?.status).toMatchObject({
    ...before,
    disruptionsAllowed: 0,
    conditions: [{ status: 'False', reason: 'SyncFailed', message: scale.because }],
  });
});
