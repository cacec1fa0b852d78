/** Shards on their way. What was accepted may still come to nothing, and nobody says so: then it is tried again, less often. */
import { type StatusOf, timestamp } from '@polder/kube';
import type { QdrantCluster } from '../../kinds/index.ts';
import type { Situation } from './situation.ts';
import type { ClusterStep } from './step.ts';

type Attempt = NonNullable<StatusOf<QdrantCluster>['transfers']>[number];
type Travelling = Extract<ClusterStep, { do: 'move-replica' | 'replicate-shard' }>;

const FIRST_MS = 30_000;
const LONGEST_MS = 600_000;
/** What is so long ago says nothing of the next attempt. */
const FORGOTTEN_MS = 3_600_000;

const waitMs = ({ attempts }: Attempt): number => Math.min(FIRST_MS * 2 ** (attempts - 1), LONGEST_MS);

const isOf =
  ({ collection, shard, to }: Travelling) =>
  (one: Attempt) =>
    one.collection === collection && one.shard === shard && one.to === to;

/** When a transfer that was asked for before may be asked for again; undefined if it may be now. */
export function triedAgainAt(step: Travelling, { cluster, now }: Situation): string | undefined {
  const before = cluster.status?.transfers?.find(isOf(step));
  const at = before && Date.parse(before.lastTime) + waitMs(before);
  return at !== undefined && at > now.getTime() ? timestamp(at) : undefined;
}

/** Attempts that have not led to a live copy, those of this pass included. */
export function rememberedTransfers(situation: Situation, steps: readonly ClusterStep[]): readonly Attempt[] {
  const { cluster, now } = situation;
  const tried = steps.filter((step): step is Travelling => step.do === 'move-replica' || step.do === 'replicate-shard');
  const before = cluster.status?.transfers ?? [];
  const left = before.filter((one) => isOpen(one, situation) && !tried.some((step) => isOf(step)(one)));
  const again = tried.map((step): Attempt => {
    const { collection, shard, to } = step;
    const attempts = (before.find(isOf(step))?.attempts ?? 0) + 1;
    return { collection, shard, to, attempts, lastTime: timestamp(now) };
  });
  return [...left, ...again];
}

function isOpen({ collection, shard, to, lastTime }: Attempt, { sight, now }: Situation): boolean {
  if (now.getTime() - Date.parse(lastTime) > FORGOTTEN_MS) return false;
  if (sight.doubt !== undefined) return true;
  const found = sight.shards.find((one) => one.collection === collection && one.id === shard);
  const copy = found?.copies.find(({ peer }) => peer === to);
  return found !== undefined && !(copy?.isLive && !found.isTravelling);
}
