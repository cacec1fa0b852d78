import type { Failure, Message } from '../../message.ts';
import type { BatchPlan, Statement } from './batch-plan.ts';
import { TrinoError } from './trouble.ts';

/** What the writing of a batch is made of. */
export interface WriteSteps {
  plan(messages: readonly Message[]): Promise<BatchPlan>;
  run(statement: Statement): Promise<void>;
  /** The next plan has to be made for the table as it is then. */
  lookAgain(): void;
}

/** Trino's ways to say that the table is not what we think it is: somebody changed it meanwhile. */
const STALE_TABLE: ReadonlySet<string | undefined> = new Set([
  'COLUMN_NOT_FOUND',
  'MISMATCHED_COLUMN_ALIASES',
  'NOT_FOUND',
  'TABLE_NOT_FOUND',
  'TYPE_MISMATCH',
]);

/**
 * Writes a batch statement by statement, in order. One that is refused because of a row is halved until that row is alone;
 * what was written is never written again. Throws if Trino can't go on and nothing is written yet.
 */
export async function writeBatch(batch: readonly Message[], steps: WriteSteps): Promise<readonly Failure[]> {
  const failures: Failure[] = [];
  const parts = [batch];
  let isWritten = false;
  let hasLookedAgain = false;
  for (let part = parts.shift(); part; part = parts.shift()) {
    const outcome = await writePart(part, steps);
    failures.push(...outcome.failures);
    isWritten ||= outcome.isWritten;
    if (!outcome.stop) continue;
    const { error, refused, later } = outcome.stop;
    parts.unshift(...[later].filter(isNotEmpty));
    const isStale = STALE_TABLE.has(error.errorName) && !hasLookedAgain;
    // What we hold to be the row's fault may be that of a type that has changed.
    if (isStale || (error.isAboutRow && !hasLookedAgain)) steps.lookAgain();
    hasLookedAgain = true;
    if (isStale) parts.unshift(refused);
    else if (error.isAboutRow && refused.length > 1) parts.unshift(...halvesOf(refused));
    else if (error.isAboutRow) failures.push(...refused.map((message) => refusedBy(error, message)));
    else if (isWritten) return [...failures, ...[refused, ...parts].flat().map((message) => leftBy(error, message))];
    else throw error;
  }
  return failures;
}

interface Outcome {
  readonly failures: readonly Failure[];
  readonly isWritten: boolean;
  /** Where it ended before its end. */
  readonly stop?: Stop;
}

interface Stop {
  readonly error: TrinoError;
  /** What the failed statement was about. */
  readonly refused: readonly Message[];
  /** What would have come after it. */
  readonly later: readonly Message[];
}

async function writePart(part: readonly Message[], steps: WriteSteps): Promise<Outcome> {
  let planned: BatchPlan;
  try {
    planned = await steps.plan(part);
  } catch (error) {
    if (!(error instanceof TrinoError)) throw error;
    // A table that none of them can bring about is missing for each of them. What Trino itself refuses may be due to one.
    if (error.isAboutRow && error.errorName === undefined)
      return { failures: part.map((message) => refusedBy(error, message)), isWritten: false };
    return { failures: [], isWritten: false, stop: { error, refused: part, later: [] } };
  }
  const { failures, statements } = planned;
  for (const [at, statement] of statements.entries()) {
    try {
      await steps.run(statement);
    } catch (error) {
      if (!(error instanceof TrinoError)) throw error;
      const later = statements.slice(at + 1).flatMap(({ messages }) => messages);
      return { failures, isWritten: at > 0, stop: { error, refused: statement.messages, later } };
    }
  }
  return { failures, isWritten: statements.length > 0 };
}

const isNotEmpty = (messages: readonly Message[]): boolean => messages.length > 0;

function halvesOf(messages: readonly Message[]): readonly (readonly Message[])[] {
  const middle = messages.length >> 1;
  return [messages.slice(0, middle), messages.slice(middle)];
}

const refusedBy = ({ detail, type }: TrinoError, message: Message): Failure => ({
  message,
  because: detail,
  type,
  isRetryable: false,
});

/** Of a batch that is written in part, the rest is tried again whatever the reason, as a whole batch would be. */
const leftBy = (error: TrinoError, message: Message): Failure => ({
  message,
  because: error.message,
  type: error.type,
  isRetryable: true,
});
