import fc from 'fast-check';
import { expect, test } from 'vitest';
import { message } from '../../../test/postgres/messages.ts';
import { planBatch } from './batch-plan.ts';
import type { Target } from './target.ts';
import { parseType } from './type.ts';

function targetOf(columns: Readonly<Record<string, string>>, target: Partial<Target> = {}): Target {
  const entries = Object.entries(columns).map(([name, type]) => [name, { name, type: parseType(type) }] as const);
  return {
    table: { name: { catalog: 'c', schema: 's', table: 'it"s' }, columns: new Map(entries) },
    layout: 'columns',
    key: [],
    metadata: 'none',
    metadataPrefix: '',
    ...target,
  };
}

const deleted = (body: unknown) => message(body, { operation: 'delete' });
const sqlOf = (...plan: Parameters<typeof planBatch>) => planBatch(...plan).statements.map(({ sql }) => sql);

test('rows that are added share one statement, which names the columns that any of them fills', () => {
  const target = targetOf({ id: 'bigint', s: 'varchar', unused: 'date', n: 'decimal(4,2)' });
  expect(sqlOf([message({ id: 1, s: "it's" }), message({ n: 1.5, ID: 2 })], target)).toEqual([
    `INSERT INTO "c"."s"."it""s" ("id", "s", "n") SELECT CAST(r[1] AS bigint), r[2], CAST(r[3] AS decimal(4,2)) ` +
      `FROM UNNEST(CAST(json_parse('[["1","it''s",null],["2",null,"1.50"]]') AS array(array(varchar)))) AS v(r)`,
  ]);
});

test('rows with a key are merged: updated where they are, added where they are not', () => {
  const target = targetOf({ id: 'bigint', s: 'varchar' }, { key: ['id'] });
  expect(sqlOf([message({ id: 1, s: 'a' })], target)).toEqual([
    `MERGE INTO "c"."s"."it""s" AS t USING (SELECT CAST(r[1] AS bigint) AS "id", r[2] AS "s" ` +
      `FROM UNNEST(CAST(json_parse('[["1","a"]]') AS array(array(varchar)))) AS v(r)) AS n ON t."id" = n."id" ` +
      `WHEN MATCHED THEN UPDATE SET "s" = n."s" WHEN NOT MATCHED THEN INSERT ("id", "s") VALUES (n."id", n."s")`,
  ]);
  const [onlyKey = '', remove = ''] = sqlOf([message({ id: 1 }), deleted({ id: 2, s: 'x' })], target);
  expect(onlyKey).toMatch(/ON t\."id" = n\."id" WHEN NOT MATCHED THEN INSERT \("id"\) VALUES \(n\."id"\)$/);
  expect(remove).toMatch(/json_parse\('\[\["2"\]\]'\).* ON t\."id" = n\."id" WHEN MATCHED THEN DELETE$/);
});

test('of several messages about one row the last is in the statement, however its key is spelled', () => {
  const target = targetOf({ id: 'bigint', s: 'varchar' }, { key: ['id'] });
  const batch = [message({ id: 1, s: 'a' }), message({ id: '1', s: 'b' }), message({ id: 1.0, s: 'c' })];
  const { statements } = planBatch(batch, target);
  expect(statements).toHaveLength(1);
  expect(statements[0]?.sql).toContain(`'[["1","c"]]'`);
  expect(statements[0]?.messages).toEqual(batch);
});

test('messages about one row keep their order when they need different statements', () => {
  const target = targetOf({ id: 'bigint', s: 'varchar', t: 'varchar' }, { key: ['id'] });
  const batch = [
    message({ id: 1, s: 'a' }),
    deleted({ id: 1 }),
    message({ id: 1, s: 'b' }),
    message({ id: 2, s: 'c' }),
  ];
  const { statements } = planBatch(batch, target);
  expect(statements.map(({ messages }) => messages.map((one) => batch.indexOf(one)))).toEqual([[0], [1], [2, 3]]);
});

test('no statement is longer than it may be, and every message is in one of them', () => {
  const target = targetOf({ id: 'bigint', s: 'varchar' });
  const bodies = fc.array(
    fc.record({ id: fc.nat(), s: fc.string({ unit: fc.constantFrom("'", '"', '\\', 'a', '😀'), maxLength: 60 }) }),
  );
  fc.assert(
    fc.property(bodies, (all) => {
      const batch = all.map((body) => message(body));
      const { statements, failures } = planBatch(batch, target, 400);
      expect(failures).toEqual([]);
      expect(statements.flatMap(({ messages }) => messages)).toEqual(batch);
      const skeleton = 200;
      for (const { sql, messages } of statements)
        expect(sql.length <= 400 + skeleton || messages.length === 1).toBe(true);
      // Nor are there more of them than needed.
      const sizes = statements.map(({ sql }) => sql.length);
      for (const [at, size] of sizes.entries()) if (at > 0) expect(size + (sizes[at - 1] ?? 0)).toBeGreaterThan(400);
    }),
  );
});

test('keys that have no column are told, unless there is nothing in them', () => {
  const { unknownKeys, failures } = planBatch(
    [message({ id: 1, extra: 1, nothing: null })],
    targetOf({ id: 'bigint' }),
  );
  expect([...unknownKeys]).toEqual(['extra']);
  expect(failures).toEqual([]);
});
