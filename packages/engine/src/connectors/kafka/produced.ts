import { protocolErrorsCodesById } from '@platformatic/kafka';

/** What became of the batch of one partition. `unknown`: no broker said, it may or may not be written. */
export type Fate =
  | { readonly is: 'written' }
  | { readonly is: 'refused'; readonly code: string; readonly because: string }
  | { readonly is: 'unknown' };

/** A batch that was sent before, when its answer got lost: the broker has it already. */
const DUPLICATE = 'DUPLICATE_SEQUENCE_NUMBER';

/**
 * Reads from the error of a send what became of each partition. The client makes one error of all attempts at all brokers, in
 * which the answers of the brokers are; one that says "written" holds, whatever happened to later attempts.
 */
export function fatesIn(error: unknown): (partition: number) => Fate {
  const fates = new Map<number, Fate>();
  for (const { index, errorCode, errorMessage } of answersIn(error)) {
    if (fates.get(index)?.is === 'written') continue;
    const code = errorCode === 0 ? '' : (protocolErrorsCodesById[errorCode] ?? String(errorCode));
    const isWritten = errorCode === 0 || code === DUPLICATE;
    fates.set(index, isWritten ? { is: 'written' } : { is: 'refused', code, because: errorMessage ?? '' });
  }
  return (partition) => fates.get(partition) ?? { is: 'unknown' };
}

interface PartitionAnswer {
  readonly index: number;
  readonly errorCode: number;
  readonly errorMessage: string | null;
}

function* answersIn(error: unknown): Iterable<PartitionAnswer> {
  if (!isObject(error)) return;
  if (Array.isArray(error['errors'])) for (const inner of error['errors']) yield* answersIn(inner);
  // Brokers that took everything are not among the errors, but among the results that came along.
  const produced = error['produced'];
  for (const one of listIn(produced, 'offsets')) {
    if (typeof one['partition'] === 'number') yield { index: one['partition'], errorCode: 0, errorMessage: null };
  }
  for (const topic of listIn(error['response'], 'responses')) {
    for (const { index, errorCode, errorMessage } of listIn(topic, 'partitionResponses')) {
      if (typeof index !== 'number' || typeof errorCode !== 'number') continue;
      yield { index, errorCode, errorMessage: typeof errorMessage === 'string' ? errorMessage : null };
    }
  }
}

function listIn(value: unknown, name: string): readonly Readonly<Record<string, unknown>>[] {
  const list: unknown = isObject(value) ? value[name] : undefined;
  return Array.isArray(list) ? list.filter(isObject) : [];
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;
