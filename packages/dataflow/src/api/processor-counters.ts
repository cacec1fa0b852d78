import { type Clock, keyOf, type Logger, messageOf, type ObjectRef, type Pod, withTimeout } from '@polder/kube';
import type { DataFlow } from '../kinds/index.ts';
import { PROCESSOR } from '../objects/index.ts';
import { type Counts, countsIn } from './counts.ts';

/** The metrics of a processor, as text. Rejects if there is no answer. */
export type ReadMetrics = (pod: Pod, signal: AbortSignal) => Promise<string>;

/** What one run of a processor had counted when it was last asked. A container that starts again is another run. */
export interface Reading extends Counts {
  readonly uid: string;
  readonly pod: string;
  /** When the number of processed messages was first seen to be what it is. */
  readonly movedAt: number;
  /** It will count no more. */
  readonly isOver: boolean;
}

export interface ProcessorCountersOptions {
  readonly readMetrics: ReadMetrics;
  readonly clock: Clock;
  readonly log: Logger;
  /** How often a processor is asked; between that, the last answer is the answer. */
  readonly intervalMs: number;
}

/** A processor that does not answer must not hold up its flow. */
const TIMEOUT_MS = 3_000;

/** What is known of the processors of one flow. */
interface Memory {
  /** When a pod was last asked, by its uid. */
  readonly askedAt: Map<string, number>;
  readings: readonly Reading[];
}

/**
 * What processors have counted. They are asked at intervals, however often their flow is looked at; and what a run had counted
 * when it ended is remembered until the status of its flow has it. What is lost with this process is asked for again, except
 * of runs that end meanwhile.
 */
export class ProcessorCounters {
  readonly #options: ProcessorCountersOptions;
  readonly #flows = new Map<string, Memory>();

  constructor(options: ProcessorCountersOptions) {
    this.#options = options;
  }

  /** One for each run that ever answered. */
  async read(flow: DataFlow, pods: readonly Pod[], signal: AbortSignal): Promise<readonly Reading[]> {
    const key = keyOf(flow.metadata);
    const memory = this.#flows.get(key) ?? { askedAt: new Map<string, number>(), readings: [] };
    this.#flows.set(key, memory);
    const answers = await Promise.all(pods.filter(isRunning).map((pod) => this.#ask(flow, pod, memory, signal)));
    const readings = updated(memory.readings, answers.flat(), pods);
    memory.readings = readings.filter((reading) => !reading.isOver || !isInStatus(flow, reading));
    for (const uid of memory.askedAt.keys()) if (!isAmong(pods, uid)) memory.askedAt.delete(uid);
    return memory.readings;
  }

  forget(flow: ObjectRef): void {
    this.#flows.delete(keyOf(flow));
  }

  /** Its counters, unless it was asked lately or does not answer. */
  async #ask(flow: DataFlow, pod: Pod, { askedAt }: Memory, outer: AbortSignal): Promise<readonly Reading[]> {
    const { readMetrics, clock, log, intervalMs } = this.#options;
    const { uid = '', name } = pod.metadata;
    if (clock.monotonic() - (askedAt.get(uid) ?? Number.NEGATIVE_INFINITY) < intervalMs) return [];
    askedAt.set(uid, clock.monotonic());
    try {
      const ask = (signal: AbortSignal) => readMetrics(pod, signal);
      const text = await withTimeout(clock, TIMEOUT_MS, outer, `asking ${name} for its metrics`, ask);
      return [{ ...countsIn(text, flow.metadata), uid, pod: name, movedAt: clock.now(), isOver: false }];
    } catch (error) {
      outer.throwIfAborted();
      log.debug({ pod: name, error: messageOf(error) }, 'a processor did not tell its counters');
      return [];
    }
  }
}

/** The newest answer of each run. */
function updated(before: readonly Reading[], answers: readonly Reading[], pods: readonly Pod[]): readonly Reading[] {
  const kept = before
    .filter((reading) => !answers.some((answer) => isSameRun(answer, reading)))
    .map((reading) => {
      const isFollowed = answers.some(({ uid }) => uid === reading.uid);
      return isFollowed || !isAmong(pods, reading.uid) ? { ...reading, isOver: true } : reading;
    });
  const moved = answers.map((answer) => {
    const last = before.find((reading) => isSameRun(reading, answer));
    return last?.processed === answer.processed ? { ...answer, movedAt: last.movedAt } : answer;
  });
  return [...kept, ...moved];
}

type Run = Pick<Reading, 'uid' | 'started'>;

export const isSameRun = (a: Run, b: Run): boolean => a.uid === b.uid && a.started === b.started;

function isInStatus({ status }: DataFlow, reading: Reading): boolean {
  const { processed, errors } = status?.processors?.find((one) => isSameRun(one, reading)) ?? NOTHING;
  return processed === reading.processed && errors === reading.errors;
}

const NOTHING = { processed: 0, errors: 0 };

const isAmong = (pods: readonly Pod[], uid: string) => pods.some(({ metadata }) => metadata.uid === uid);

function isRunning({ status }: Pod): boolean {
  const container = status?.containerStatuses?.find(({ name }) => name === PROCESSOR);
  return status?.podIP !== undefined && container?.state?.running !== undefined;
}
