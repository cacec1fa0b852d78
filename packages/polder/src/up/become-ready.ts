import { type Client, type Clock, isNotFound, type Kind, type KubernetesObject, sleep } from '@polder/kube';
import { type AppliedObject, readinessOf } from '../manifests/index.ts';

/** In this process, so that asking costs next to nothing. */
const LOOK_EVERY_MS = 100;

/** An object that was not ready when it was last looked at. */
export interface Waiting {
  readonly kind: Kind;
  readonly object: KubernetesObject;
  readonly because: string;
}

export interface BecomeReadyTools {
  readonly client: Client;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly ready: (kind: Kind, object: KubernetesObject, because: string) => void;
}

/** Tells of each object when it is ready. Ends when all are, or when patience does: with those that are not. */
export async function becomeReady(
  applied: readonly Pick<AppliedObject, 'kind' | 'object'>[],
  { patienceMs }: { readonly patienceMs: number },
  { client, clock, signal, ready }: BecomeReadyTools,
): Promise<readonly Waiting[]> {
  const deadline = clock.monotonic() + patienceMs;
  let others = applied;
  for (;;) {
    const waiting: Waiting[] = [];
    for (const { kind, object } of others) {
      const live = await client.get(kind, object.metadata, { signal }).catch(goneIfNotFound);
      // Somebody has deleted it: nobody waits for it any more.
      if (live === undefined) continue;
      const { isReady, because } = readinessOf(live);
      if (isReady) ready(kind, live, because);
      else waiting.push({ kind, object: live, because });
    }
    if (waiting.length === 0 || clock.monotonic() >= deadline) return waiting;
    others = waiting;
    await sleep(clock, LOOK_EVERY_MS, signal);
  }
}

function goneIfNotFound(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}
