import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Assignment, changeOf, Lease, NOTHING, Position } from './assignment.ts';

const assign = (before: Assignment, generation: number, partitions: readonly number[]) =>
  changeOf(before, generation, 'orders', partitions);

test('a partition that stays ours in the next generation is read on, the others are lost or new', () => {
  const first = assign(NOTHING, 1, [0, 1, 2]).assignment;
  const { assignment, lost } = assign(first, 2, [1, 3]);
  expect(assignment.leases.get(1)).toBe(first.leases.get(1));
  expect(assignment.leases.get(3)).toMatchObject({ name: 'orders/3', next: undefined });
  expect(lost).toEqual([first.leases.get(0), first.leases.get(2)]);
});

test('after a generation without us nothing is ours any more, even what was given to us again', () => {
  const first = assign(NOTHING, 1, [0, 1]).assignment;
  const { assignment, lost } = assign(first, 3, [0, 1]);
  expect(lost.map(({ partition }) => partition)).toEqual([0, 1]);
  expect(assignment.leases.get(0)).not.toBe(first.leases.get(0));
});

test('whatever the group decides, a lease is kept only if no generation lies between, and each lost one is told once', () => {
  const step = fc.record({ skipped: fc.nat(2), partitions: fc.uniqueArray(fc.nat(5)) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
      let now = NOTHING;
      const told = new Set<unknown>();
      for (const { skipped, partitions } of steps) {
        const { assignment, lost } = assign(now, now.generation + 1 + skipped, partitions);
        expect(new Set(assignment.leases.keys())).toEqual(new Set(partitions));
        for (const lease of lost) {
          expect(told.has(lease)).toBe(false);
          told.add(lease);
        }
        for (const lease of now.leases.values()) {
          const isKept = assignment.leases.get(lease.partition) === lease;
          expect(isKept).toBe(skipped === 0 && partitions.includes(lease.partition));
          expect(lost.includes(lease)).toBe(!isKept);
        }
        now = assignment;
      }
    }),
  );
});

test('a position says where to look for the message', () => {
  expect(String(new Position(new Lease('orders', 3), 42))).toBe('topic orders, partition 3, offset 42');
});
