import { type Pod, timestamp } from '@polder/kube';
import { isSameRun, type Reading } from '../api/index.ts';
import type { DataFlow } from '../kinds/index.ts';

type Status = NonNullable<DataFlow['status']>;

/** The part of a status that counts. */
export type Counts = Pick<Status, 'processedCount' | 'errorCount' | 'lastProcessedTime' | 'countedTime' | 'processors'>;

/** The counts of a flow, and whether they are worth a write by themselves. */
export interface Counting {
  readonly before: Counts;
  readonly after: Counts;
  readonly isDue: boolean;
}

/**
 * Adds what the processors have counted since the status was last written. Everything that has to be known of earlier runs is
 * in the status: what is counted from there is neither lost nor counted twice, whoever counts next.
 */
export function countsOf(
  status: Status | undefined,
  { readings, pods }: { readonly readings: readonly Reading[]; readonly pods: readonly Pod[] },
  now: Date,
  everyMs: number,
): Counting {
  const { processedCount = 0, errorCount = 0, lastProcessedTime, countedTime, processors = [] } = status ?? {};
  const before: Counts = {
    processedCount,
    errorCount,
    ...(lastProcessedTime !== undefined && { lastProcessedTime }),
    ...(countedTime !== undefined && { countedTime }),
    ...(processors.length > 0 && { processors }),
  };
  const news = readings.flatMap((reading) => increment(reading, processors));
  if (news.length === 0) return { before, after: before, isDue: false };
  const sum = (of: 'processed' | 'errors') => news.reduce((total, one) => total + one[of], 0);
  const movedAt = Math.max(...news.filter(({ processed }) => processed > 0).map(({ reading }) => reading.movedAt));
  const after: Counts = {
    ...before,
    processedCount: processedCount + sum('processed'),
    errorCount: errorCount + sum('errors'),
    ...(Number.isFinite(movedAt) && { lastProcessedTime: timestamp(movedAt) }),
    countedTime: timestamp(now),
    processors: [...readings.filter(hasCounted).map(counted), ...processors.filter(isUnread(readings, pods))],
  };
  const isOverdue = countedTime === undefined || now.getTime() - Date.parse(countedTime) >= everyMs;
  // What ended is remembered by this process alone.
  return { before, after, isDue: isOverdue || news.some(({ reading }) => reading.isOver) };
}

interface Increment {
  readonly reading: Reading;
  readonly processed: number;
  readonly errors: number;
}

function increment(reading: Reading, processors: NonNullable<Status['processors']>): readonly Increment[] {
  const known = processors.find((one) => isSameRun(one, reading));
  // A counter only grows: one that is smaller is that of another run, which did not say when it started.
  const since = (now: number, before = 0) => (now >= before ? now - before : now);
  const processed = since(reading.processed, known?.processed);
  const errors = since(reading.errors, known?.errors);
  return processed > 0 || errors > 0 ? [{ reading, processed, errors }] : [];
}

const hasCounted = ({ processed, errors }: Reading) => processed > 0 || errors > 0;

const counted = ({ uid, pod, started, processed, errors }: Reading): Counted => {
  return { uid, pod, started, processed, errors };
};

type Counted = NonNullable<Status['processors']>[number];

/** Its pod is there and has not been asked by this process yet: if it was forgotten, all of it would count again. */
const isUnread = (readings: readonly Reading[], pods: readonly Pod[]) => {
  const read = new Set(readings.map(({ uid }) => uid));
  const there = new Set(pods.map(({ metadata }) => metadata.uid));
  return ({ uid }: Counted) => there.has(uid) && !read.has(uid);
};
