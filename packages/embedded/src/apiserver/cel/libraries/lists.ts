import { type Environment, Optional } from '@marcbachmann/cel-js';
import { Duration } from '@marcbachmann/cel-js/evaluator';
import { equalValues } from '../equality.ts';
import { registerNamespace } from './namespace.ts';

type Ordered = bigint | number | string | boolean | Date | Duration | Uint8Array;

function compare(a: Ordered, b: Ordered): number {
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b);
  if (a < b) return -1;
  return a > b ? 1 : 0;
}

function extreme(name: string, list: readonly Ordered[], sign: number): Ordered {
  const [first, ...rest] = list;
  if (first === undefined) throw new Error(`${name} called on empty list`);
  return rest.reduce((best, item) => (compare(item, best) * sign > 0 ? item : best), first);
}

const optionalOf = (value: unknown) => (value === undefined ? Optional.none() : Optional.of(value));

/** https://kubernetes.io/docs/reference/using-api/cel/#kubernetes-list-library and cel-go's own `lists` extension. */
export function registerLists(env: Environment): void {
  env.registerFunction('list<V>.isSorted(): bool', (list: readonly Ordered[]) =>
    list.every((item, index) => index === 0 || compare(list[index - 1] ?? item, item) <= 0),
  );
  env.registerFunction('list<V>.min(): V', (list: readonly Ordered[]) => extreme('min', list, -1));
  env.registerFunction('list<V>.max(): V', (list: readonly Ordered[]) => extreme('max', list, 1));
  env.registerFunction('list<V>.indexOf(V): int', (list: readonly unknown[], item: unknown) =>
    BigInt(list.findIndex((other) => equalValues(other, item))),
  );
  env.registerFunction('list<V>.lastIndexOf(V): int', (list: readonly unknown[], item: unknown) =>
    BigInt(list.findLastIndex((other) => equalValues(other, item))),
  );
  env.registerFunction('list<int>.sum(): int', (list: readonly bigint[]) => list.reduce((a, b) => a + b, 0n));
  env.registerFunction('list<double>.sum(): double', (list: readonly number[]) => list.reduce((a, b) => a + b, 0));
  env.registerFunction('list<google.protobuf.Duration>.sum(): google.protobuf.Duration', (list: readonly Duration[]) =>
    list.reduce((a, b) => a.addDuration(b), new Duration(0n)),
  );

  env.registerFunction('list<V>.slice(int, int): list<V>', (list: readonly unknown[], start: bigint, end: bigint) => {
    if (start < 0n || end < 0n) throw new Error(`cannot slice(${start}, ${end}), negative indexes not supported`);
    if (start > end)
      throw new Error(`cannot slice(${start}, ${end}), start index must be less than or equal to end index`);
    if (end > BigInt(list.length)) throw new Error(`cannot slice(${start}, ${end}), list is length ${list.length}`);
    return list.slice(Number(start), Number(end));
  });
  env.registerFunction('list.flatten(): list<dyn>', (list: readonly unknown[]) => list.flat());
  env.registerFunction('list.flatten(int): list<dyn>', (list: readonly unknown[], depth: bigint) =>
    list.flat(Number(depth)),
  );
  env.registerFunction('list<V>.sort(): list<V>', (list: readonly Ordered[]) => list.toSorted(compare));
  env.registerFunction('list<V>.distinct(): list<V>', (list: readonly unknown[]) =>
    list.filter((item, index) => list.findIndex((other) => equalValues(other, item)) === index),
  );
  env.registerFunction('list<V>.reverse(): list<V>', (list: readonly unknown[]) => list.toReversed());
  env.registerFunction('list<V>.first(): optional<V>', (list: readonly unknown[]) => optionalOf(list[0]));
  env.registerFunction('list<V>.last(): optional<V>', (list: readonly unknown[]) => optionalOf(list.at(-1)));
  const lists = registerNamespace(env, 'lists');
  env.registerFunction(`${lists}.range(int): list<int>`, (_: unknown, count: bigint) =>
    Array.from({ length: Number(count) }, (__, index) => BigInt(index)),
  );
}
