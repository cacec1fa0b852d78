import fc from 'fast-check';
import { expect, test } from 'vitest';
import { message } from '../../../test/postgres/messages.ts';
import type { Message } from '../../message.ts';
import type { Statement } from './batch-plan.ts';
import { writeBatch } from './batch-write.ts';
import { passing, queryTrouble, TrinoError } from './trouble.ts';

const dataError = () =>
  queryTrouble({ message: 'secret', errorName: 'INVALID_CAST_ARGUMENT', errorType: 'USER_ERROR' });

/** A table that refuses statements with a poisoned row, and fails when it is told to. */
class Table {
  readonly rows: Message[] = [];
  statements = 0;
  looks = 0;
  readonly #poison: ReadonlySet<Message>;
  readonly #failsAt: (statement: number) => TrinoError | undefined;
  readonly #size: number;

  constructor(
    poison: Iterable<Message>,
    size: number,
    failsAt: (statement: number) => TrinoError | undefined = () => undefined,
  ) {
    this.#poison = new Set(poison);
    this.#size = size;
    this.#failsAt = failsAt;
  }

  plan(messages: readonly Message[]) {
    const statements: Statement[] = [];
    for (let at = 0; at < messages.length; at += this.#size)
      statements.push({ sql: '', messages: messages.slice(at, at + this.#size) });
    return Promise.resolve({ statements, failures: [], unknownKeys: new Set<string>() });
  }

  run({ messages }: Statement): Promise<void> {
    const failure = this.#failsAt(++this.statements);
    if (failure) return Promise.reject(failure);
    if (messages.some((one) => this.#poison.has(one))) return Promise.reject(dataError());
    this.rows.push(...messages);
    return Promise.resolve();
  }

  lookAgain(): void {
    this.looks++;
  }
}

const batchOf = (count: number) => Array.from({ length: count }, (_, id) => message({ id }));

test('all and only the poisoned rows come back, and every other is written once, in order', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.boolean(), { maxLength: 40 }),
      fc.integer({ min: 1, max: 50 }),
      async (kinds, size) => {
        const batch = batchOf(kinds.length);
        const poison = batch.filter((_, at) => kinds[at]);
        const table = new Table(poison, size);
        const failures = await writeBatch(batch, table);
        expect(failures.map((failure) => failure.message)).toEqual(poison);
        expect(failures.every(({ isRetryable, because }) => !isRetryable && because.includes('secret'))).toBe(true);
        expect(table.rows).toEqual(batch.filter((one) => !poison.includes(one)));
      },
    ),
  );
});

test('one bad row among a thousand is found with few statements', async () => {
  const batch = batchOf(1000);
  const table = new Table(batch.slice(500, 501), 1000);
  expect(await writeBatch(batch, table)).toHaveLength(1);
  expect(table.statements).toBeLessThanOrEqual(21);
});

test('when Trino fails in the middle, what is written stays so, and only the rest is to be tried again', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 8 }), fc.nat(19), async (failing, poisoned) => {
      const batch = batchOf(20);
      const down = new TrinoError('away', passing('connection_error'));
      const table = new Table(batch.slice(poisoned, poisoned + 1), 4, (at) => (at === failing ? down : undefined));
      const outcome = await writeBatch(batch, table).catch((error: unknown) => error);
      if (!Array.isArray(outcome)) {
        expect(outcome).toBe(down);
        expect(table.rows).toEqual([]);
        return;
      }
      const left = outcome.map((failure: { message: Message }) => failure.message);
      expect(new Set([...table.rows, ...left])).toEqual(new Set(batch));
      expect(table.rows.length + left.length).toBe(batch.length);
    }),
  );
});

test('a message for which no table can be made is refused alone', async () => {
  const batch = batchOf(8);
  const table = new Table([], 10);
  const failures = await writeBatch(batch, {
    plan: (messages) => (messages.some((one) => one === batch[5]) ? Promise.reject(dataError()) : table.plan(messages)),
    run: (statement) => table.run(statement),
    lookAgain: () => table.lookAgain(),
  });
  expect(failures.map((failure) => failure.message)).toEqual([batch[5]]);
  expect(table.rows).toHaveLength(7);
});

test('a table that has changed is looked at once, and then what it refuses is refused', async () => {
  const gone = () => queryTrouble({ message: 'no', errorName: 'COLUMN_NOT_FOUND', errorType: 'USER_ERROR' });
  const healed = new Table([], 10, (at) => (at === 1 ? gone() : undefined));
  expect(await writeBatch(batchOf(5), healed)).toEqual([]);
  expect(healed).toMatchObject({ looks: 1, statements: 2, rows: { length: 5 } });
  const lasting = new Table([], 10, gone);
  await expect(writeBatch(batchOf(5), lasting)).rejects.toThrow('no (COLUMN_NOT_FOUND)');
  expect(lasting).toMatchObject({ looks: 1, statements: 2 });
});
