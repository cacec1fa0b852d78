/** How what is being deleted is let go: after attempts that a status counts, or because somebody can't wait. */
import { type Happening, type KubernetesObject, messageOf, timestamp } from '@polder/kube';
import { CLEANUP_FORCED } from './reasons.ts';
import type { Settings } from './settings.ts';

/** For whoever can't wait until all is cleaned up. */
export const FORCE_ANNOTATION = 'qdrant.operator/force-delete';

interface Deleted extends KubernetesObject {
  readonly status?: { readonly cleanupAttempts?: number; readonly cleanupTriedAt?: string };
}

/** Whether nothing more is tried. Attempts are in the status: they outlive the process that made them. */
export const isForced = (
  { metadata, status }: Deleted,
  { cleanupAttempts }: Pick<Settings, 'cleanupAttempts'>,
): boolean => metadata.annotations?.[FORCE_ANNOTATION] === 'true' || (status?.cleanupAttempts ?? 0) >= cleanupAttempts;

/** Told with the end of the resource: something may be left behind. */
export const letGo = ({ status }: Deleted, left: string): Happening => ({
  type: 'Warning',
  reason: CLEANUP_FORCED,
  action: 'Delete',
  note: `gave up cleaning up after ${status?.cleanupAttempts ?? 0} attempts; ${left} may be left`,
});

const FIRST_PAUSE_MS = 2_000;
const LONGEST_PAUSE_MS = 30_000;

/** How long after an attempt that came to nothing the next is made. */
export const pauseOf = ({ status }: Deleted): number =>
  Math.min(FIRST_PAUSE_MS * 2 ** (status?.cleanupAttempts ?? 0), LONGEST_PAUSE_MS);

/** What the status says while nothing can be done. Passes that come of others' changes are no attempts. */
export function waitedCleanup(resource: Deleted, now: number) {
  const { cleanupAttempts = 0, cleanupTriedAt } = resource.status ?? {};
  const isAttempt = cleanupTriedAt === undefined || now - Date.parse(cleanupTriedAt) >= pauseOf(resource);
  return isAttempt
    ? { cleanupAttempts: cleanupAttempts + 1, cleanupTriedAt: timestamp(now) }
    : { cleanupAttempts, cleanupTriedAt };
}

/** What the status says after an attempt that failed. */
export function failedCleanup({ metadata, status }: Deleted, error: unknown) {
  if (metadata.deletionTimestamp === undefined) return {};
  const cleanupAttempts = (status?.cleanupAttempts ?? 0) + 1;
  return { cleanupPhase: 'Retrying', cleanupAttempts, cleanupError: messageOf(error) } as const;
}
