import type { Container, Pod, Quantity } from '@polder/kube';
import { parseQuantity } from '../apiserver/builtin/quantity.ts';

/** How much of each resource: processors in thousandths, everything else in whole units. */
export type Amounts = ReadonlyMap<string, number>;

export const NOTHING: Amounts = new Map();

/** Fractions are rounded up, as the real scheduler counts them. */
export function amountsOf(quantities: Readonly<Record<string, Quantity>> | undefined): Amounts {
  if (quantities === undefined) return NOTHING;
  const entries = Object.entries(quantities).map(([name, quantity]) => [name, amountOf(name, quantity)] as const);
  return new Map(entries);
}

function amountOf(name: string, quantity: Quantity): number {
  const nanos = parseQuantity(quantity)?.nanos ?? 0n;
  const unit = name === 'cpu' ? 1_000_000n : 1_000_000_000n;
  return Number((nanos + unit - 1n) / unit);
}

/**
 * What a pod needs at once: its containers together, or the one init container that needs more; beside each runs every
 * sidecar (an init container that restarts always) that was started before. What is said of the whole pod goes before.
 */
export function requestsOf({ spec }: Pod): Amounts {
  const { containers = [], initContainers = [], overhead, resources } = spec ?? {};
  let sidecars = NOTHING;
  let first = NOTHING;
  for (const container of initContainers) {
    const needed = sum(sidecars, requested(container));
    if (container.restartPolicy === 'Always') sidecars = needed;
    first = largest(first, needed);
  }
  const together = containers.map(requested).reduce(sum, sidecars);
  const whole = new Map([...largest(first, together), ...amountsOf(resources?.requests)]);
  return sum(whole, amountsOf(overhead));
}

const requested = ({ resources }: Container) => amountsOf(resources?.requests);

export function sum(a: Amounts, b: Amounts): Amounts {
  return merged(a, b, (left, right) => left + right);
}

export function difference(a: Amounts, b: Amounts): Amounts {
  return merged(a, b, (left, right) => left - right);
}

const largest = (a: Amounts, b: Amounts) => merged(a, b, Math.max);

function merged(a: Amounts, b: Amounts, merge: (left: number, right: number) => number): Amounts {
  if (b.size === 0) return a;
  const result = new Map(a);
  for (const [name, amount] of b) result.set(name, merge(result.get(name) ?? 0, amount));
  return result;
}
