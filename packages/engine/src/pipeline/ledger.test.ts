import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Origin } from '../message.ts';
import { Ledger } from './ledger.ts';

const originsOf = (partition: string, count: number): Origin[] =>
  Array.from({ length: count }, (_, sequence) => ({ partition, sequence, position: sequence, readAt: 0 }));

const positionsIn = (ledger: Ledger) =>
  ledger.takeCommittable().map(({ partition, position }) => [partition, position]);

/** Slow and obviously right: everything ever opened, and a look at all of it. */
class Model {
  readonly inputs: { origin: Origin; left: number }[] = [];
  readonly held = new Map<string, number>();
  readonly taken = new Map<string, number>();

  takeCommittable(): Map<string, number> {
    const committable = new Map<string, number>();
    for (const name of new Set(this.inputs.map(({ origin }) => origin.partition))) {
      const inputs = this.inputs.filter(({ origin }) => origin.partition === name);
      const end = inputs.findIndex(
        ({ origin, left }) => left > 0 || origin.sequence >= (this.held.get(name) ?? Number.POSITIVE_INFINITY),
      );
      const last = inputs.slice(0, end === -1 ? inputs.length : end).at(-1)?.origin.sequence;
      if (last === undefined || last === this.taken.get(name)) continue;
      committable.set(name, last);
      this.taken.set(name, last);
    }
    return committable;
  }

  get size(): number {
    return this.inputs.filter(({ origin }, at) => {
      if (origin.sequence >= (this.held.get(origin.partition) ?? Number.POSITIVE_INFINITY)) return false;
      return this.inputs.slice(0, at + 1).some((one) => one.origin.partition === origin.partition && one.left > 0);
    }).length;
  }
}

const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('open' as const), partition: fc.nat(2), outputs: fc.nat(3) }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('settle' as const), which: fc.nat() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('take' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('hold' as const), which: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('forget' as const), partition: fc.nat(2) }) },
);

test('what may be committed is what a look at everything says, in whatever order things complete', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
      const ledger = new Ledger();
      const model = new Model();
      const next = new Map<string, number>();
      for (const step of steps) {
        const open = model.inputs.filter(({ left }) => left > 0);
        if (step.do === 'open') {
          const partition = `p${step.partition}`;
          const sequence = next.get(partition) ?? 0;
          next.set(partition, sequence + 1);
          const origin = { partition, sequence, position: sequence, readAt: 0 };
          ledger.opened(origin, step.outputs);
          model.inputs.push({ origin, left: step.outputs });
        } else if (step.do === 'settle') {
          const one = open[step.which % Math.max(1, open.length)];
          if (!one) continue;
          ledger.settled(one.origin);
          one.left--;
        } else if (step.do === 'hold') {
          const one = open[step.which % Math.max(1, open.length)];
          if (!one) continue;
          ledger.hold(one.origin);
          const { partition, sequence } = one.origin;
          model.held.set(partition, Math.min(sequence, model.held.get(partition) ?? sequence));
        } else if (step.do === 'forget') {
          const partition = `p${step.partition}`;
          ledger.forget(partition);
          // What is settled late is of no consequence, whatever the partition counts in its next life.
          for (const { origin } of model.inputs.filter(
            ({ origin, left }) => origin.partition === partition && left > 0,
          )) {
            ledger.settled(origin);
          }
          const others = model.inputs.filter(({ origin }) => origin.partition !== partition);
          model.inputs.splice(0, model.inputs.length, ...others);
          for (const known of [model.held, model.taken, next]) known.delete(partition);
        } else {
          expect(new Map(ledger.takeCommittable().map((o) => [o.partition, o.sequence]))).toEqual(
            model.takeCommittable(),
          );
        }
        expect(ledger.size).toBe(model.size);
      }
      expect(new Map(ledger.takeCommittable().map((o) => [o.partition, o.sequence]))).toEqual(model.takeCommittable());
    }),
    { numRuns: 500 },
  );
});

test('an input with several outputs is done with the last of them, one without any at once', () => {
  const ledger = new Ledger();
  const [dropped, flattened] = originsOf('p', 2);
  if (!dropped || !flattened) throw new Error('two origins');
  ledger.opened(dropped, 0);
  ledger.opened(flattened, 2);
  expect(positionsIn(ledger)).toEqual([['p', 0]]);
  ledger.settled(flattened);
  expect(positionsIn(ledger)).toEqual([]);
  ledger.settled(flattened);
  expect(positionsIn(ledger)).toEqual([['p', 1]]);
});

test('a partition that comes back is not advanced by what was in flight when it was lost', () => {
  const ledger = new Ledger();
  const [before] = originsOf('p', 1);
  const [after] = originsOf('p', 1);
  if (!before || !after) throw new Error('an origin each');
  ledger.opened(before, 1);
  ledger.forget('p');
  ledger.opened(after, 1);
  ledger.settled(before);
  expect(positionsIn(ledger)).toEqual([]);
  ledger.settled(after);
  expect(positionsIn(ledger)).toEqual([['p', 0]]);
});

test('what passed is not kept: a million inputs cost as much as those in flight', () => {
  const ledger = new Ledger();
  const origins = originsOf('p', 1_000_000);
  for (const [at, origin] of origins.entries()) {
    ledger.opened(origin, 1);
    const behind = origins[at - 100];
    if (behind) ledger.settled(behind);
    if (at % 1_000 === 0) ledger.takeCommittable();
    if (ledger.size > 100 + 1) throw new Error(`${ledger.size} are kept`);
  }
  expect(positionsIn(ledger)).toEqual([['p', 999_899]]);
});

test('a source that skips or repeats a sequence is told so', () => {
  const ledger = new Ledger();
  const [first, , third] = originsOf('p', 3);
  if (!first || !third) throw new Error('three origins');
  ledger.opened(first, 1);
  expect(() => ledger.opened(third, 1)).toThrow('partition p: sequence 2 was read where 1 comes next');
});
