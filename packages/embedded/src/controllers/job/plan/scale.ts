import type { Pod } from '@polder/kube';
import { deletionOrder } from '../../pods/index.ts';
import { indexRetryAt, jobRetryAt } from './backoff.ts';
import { type Facts, indexOf, isValid, waitsForTheEnd } from './facts.ts';
import { firstFree, indexesOf, union } from './indexes.ts';

/** Which pods a job that goes on gets and loses. Never both at once: a surplus goes first. */
export interface Scale {
  readonly because: string;
  /** One new pod for each: its index, or undefined in a job without indexes. */
  readonly create: readonly (number | undefined)[];
  /** These go without having been counted. */
  readonly discard: readonly Pod[];
  /** When a pod that waits for its backoff may be created, in milliseconds since the epoch. */
  readonly retryAt?: number;
}

/** The most pods that one pass creates or deletes, so that others get their turn. */
const BURST = 500;

export function scale(facts: Facts, now: Date): Scale {
  const { spec, active, terminating } = facts;
  if (spec.suspend) return { because: 'the job is suspended', create: [], discard: active };
  const wanted = wantedPods(facts);
  const because = `${active.length} pods are active and ${wanted} are wanted`;
  const discard = surplus(facts, active.length - wanted, now).slice(0, BURST);
  if (discard.length > 0) return { because, create: [], discard };
  const missing = wanted - active.length - (waitsForTheEnd(spec) ? terminating.length : 0);
  if (missing <= 0) return { because, create: [], discard };
  return { because, discard, ...creations(facts, Math.min(missing, BURST), now.getTime()) };
}

function wantedPods({ spec, active, counts }: Facts): number {
  const { completions, parallelism = 1 } = spec;
  if (completions !== undefined) return Math.max(0, Math.min(parallelism, completions - counts.succeeded));
  // The pods of a work queue agree among themselves: once one succeeded, no new ones join.
  return counts.succeeded > 0 ? active.length : parallelism;
}

function creations(facts: Facts, count: number, now: number): Pick<Scale, 'create' | 'retryAt'> {
  const { spec, isIndexed, active, terminating, completed, failedIndexes, lastFailed } = facts;
  if (failedIndexes === undefined) {
    const retryAt = jobRetryAt(facts);
    if (retryAt > now) return { create: [], retryAt };
  }
  if (!isIndexed) return { create: Array.from({ length: count }, () => undefined) };
  const held = [...active, ...(waitsForTheEnd(spec) ? terminating : [])].map(indexOf).filter((index) => index >= 0);
  const taken = union(completed, failedIndexes ?? [], indexesOf(held));
  const free = firstFree(taken, spec.completions ?? 0, count);
  const waits = free.map((index) => indexRetryAt(lastFailed.get(index))).filter((at) => at > now);
  return {
    create: free.filter((index) => indexRetryAt(lastFailed.get(index)) <= now),
    ...(waits.length > 0 && { retryAt: Math.min(...waits) }),
  };
}

/** Of an indexed job also those that share an index with another, or have none that is valid. */
function surplus({ spec, isIndexed, active }: Facts, atLeast: number, now: Date): readonly Pod[] {
  // To have pods of a job on one node is no waste.
  const inOrder = (pods: readonly Pod[]) => deletionOrder(pods, { now, related: [] });
  if (!isIndexed) return inOrder(active).slice(0, Math.max(0, atLeast));
  const keepers = new Map<number, Pod>();
  for (const pod of inOrder(active)) if (isValid(spec, pod)) keepers.set(indexOf(pod), pod);
  const kept = new Set(keepers.values());
  const invalid = active.filter((pod) => !kept.has(pod));
  return [...invalid, ...inOrder([...kept]).slice(0, Math.max(0, atLeast - invalid.length))];
}
