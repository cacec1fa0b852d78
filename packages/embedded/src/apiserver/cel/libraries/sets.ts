import type { Environment } from '@marcbachmann/cel-js';
import { equalValues } from '../equality.ts';
import { registerNamespace } from './namespace.ts';

const has = (list: readonly unknown[], item: unknown) => list.some((other) => equalValues(other, item));
const contains = (list: readonly unknown[], sub: readonly unknown[]) => sub.every((item) => has(list, item));

/** cel-go's `sets` extension: lists compared without order and repetition. */
export function registerSets(env: Environment): void {
  const sets = registerNamespace(env, 'sets');
  env.registerFunction(`${sets}.contains(list<V>, list<V>): bool`, (_: unknown, a: unknown[], b: unknown[]) =>
    contains(a, b),
  );
  env.registerFunction(
    `${sets}.equivalent(list<V>, list<V>): bool`,
    (_: unknown, a: unknown[], b: unknown[]) => contains(a, b) && contains(b, a),
  );
  env.registerFunction(`${sets}.intersects(list<V>, list<V>): bool`, (_: unknown, a: unknown[], b: unknown[]) =>
    a.some((item) => has(b, item)),
  );
}
