import { type Client, type Clock, type Kind, type KubernetesObject, sleep } from '@polder/kube';
import { type AppliedObject, readinessOf } from '../manifests/index.ts';
import type { Progress } from './progress.ts';

/** In this process, so that asking costs next to nothing. */
const LOOK_EVERY_MS = 100;
/** Who waits for longer is told for what; the cluster goes on meanwhile. */
const PATIENCE_MS = 60_000;

/** Tells of each object when it is ready, and ends when all are or when patience does. */
export async function becomeReady(
  applied: readonly AppliedObject[],
  { client, clock, signal }: { readonly client: Client; readonly clock: Clock; readonly signal: AbortSignal },
  progress: Pick<Progress, 'ready' | 'stillWaiting'>,
): Promise<void> {
  const deadline = clock.monotonic() + PATIENCE_MS;
  let waiting: readonly { readonly kind: Kind; readonly object: KubernetesObject }[] = applied;
  while (waiting.length > 0) {
    const left = [];
    for (const { kind, object } of waiting) {
      const live = await client.get(kind, object.metadata, { signal });
      const { isReady, because } = readinessOf(live);
      if (isReady) progress.ready(kind, live, because);
      else if (clock.monotonic() > deadline) progress.stillWaiting(kind, live, because);
      else left.push({ kind, object });
    }
    waiting = left;
    if (waiting.length > 0) await sleep(clock, LOOK_EVERY_MS, signal);
  }
}
