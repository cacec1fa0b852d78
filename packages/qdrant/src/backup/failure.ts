import { messageOf, timestamp } from '@polder/kube';
import type { BackupStatus, Leftover, QdrantCollectionBackup } from '../kinds/index.ts';
import { versionOf } from './due.ts';
import { storageTroubleOf } from './storage.ts';

/** A step that did not come to its end, and what it left on a peer. */
export class StepFailed extends Error {
  override readonly name = 'StepFailed';
  /** Of the Secret that it was attempted with. */
  readonly credentials: string;
  /** A snapshot that could not be removed, if there is one. */
  readonly leftover: Leftover | undefined;

  constructor(message: string, options: { cause: unknown; credentials: string; leftover?: Leftover | undefined }) {
    super(message, { cause: options.cause });
    this.credentials = options.credentials;
    this.leftover = options.leftover;
  }
}

const FIRST_PAUSE_MS = 10_000;
const LONGEST_PAUSE_MS = 600_000;

/** Each attempt costs a peer a snapshot: the next comes later and later. */
export function statusAfter(backup: QdrantCollectionBackup, error: unknown, now: Date): BackupStatus {
  const { status = {} } = backup;
  const { current, leftovers = [] } = status;
  const cause = error instanceof StepFailed ? error.cause : error;
  const because = storageTroubleOf(cause, backup)?.because ?? messageOf(error);
  const left = error instanceof StepFailed && error.leftover ? [...leftovers, error.leftover] : leftovers;
  const failures = (current?.failures ?? 0) + 1;
  const pause = Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS);
  const retryVersion = error instanceof StepFailed ? versionOf(backup, error.credentials) : undefined;
  return {
    ...status,
    phase: 'Failed',
    lastError: because,
    ...(left.length > 0 && { leftovers: left }),
    ...(current && {
      current: {
        ...current,
        failures,
        ...(retryVersion !== undefined && { retryAt: timestamp(now.getTime() + pause), retryVersion }),
      },
    }),
  };
}
