/** How what is being deleted is let go: after attempts that a status counts, or because somebody can't wait. */
import { type KubernetesObject, messageOf } from '@polder/kube';
import type { Settings } from './settings.ts';

/** For whoever can't wait until all is cleaned up. */
export const FORCE_ANNOTATION = 'qdrant.operator/force-delete';

interface Deleted extends KubernetesObject {
  readonly status?: { readonly cleanupAttempts?: number };
}

/** Whether nothing more is tried. Attempts are in the status: they outlive the process that made them. */
export const isForced = (
  { metadata, status }: Deleted,
  { cleanupAttempts }: Pick<Settings, 'cleanupAttempts'>,
): boolean => metadata.annotations?.[FORCE_ANNOTATION] === 'true' || (status?.cleanupAttempts ?? 0) >= cleanupAttempts;

/** Tells that something may be left behind: a step, because a resource that is gone has no status to tell it in. */
export interface LetGo {
  readonly do: 'let-go';
  readonly because: string;
}

export const letGo = ({ status }: Deleted, left: string): LetGo => ({
  do: 'let-go',
  because: `gave up cleaning up after ${status?.cleanupAttempts ?? 0} attempts; ${left} may be left`,
});

export const letGoEvent = ({ because: note }: LetGo) =>
  ({ type: 'Warning', reason: 'CleanupForced', action: 'Delete', note }) as const;

/** What the status says after an attempt that failed. */
export function failedCleanup({ metadata, status }: Deleted, error: unknown) {
  if (metadata.deletionTimestamp === undefined) return {};
  const cleanupAttempts = (status?.cleanupAttempts ?? 0) + 1;
  return { cleanupPhase: 'Retrying', cleanupAttempts, cleanupError: messageOf(error) } as const;
}
