import { expect, test } from 'vitest';
import { type Feed, feedQuery } from './feed.ts';
import { parseType } from './type.ts';

const column = (name: string, type: string) => ({ name, type: parseType(type) });
const id = column('id', 'bigint');
const at = column('at', 'timestamp(6) with time zone');
const feed = (keyset: Feed['keyset']): Feed => ({ relation: '"c"."s"."t"', keyset });

test('rows are asked for behind a position, by change and key, and never parted from those with the same', () => {
  expect(feedQuery(feed({ change: at, order: id }), { change: '2026-01-31T08:00:00.123456Z', order: '7' }, 100)).toBe(
    `SELECT polder_row.*, polder_row."at" AT TIME ZONE 'UTC', polder_row."id" FROM "c"."s"."t" AS polder_row ` +
      `WHERE polder_row."at" IS NOT NULL AND polder_row."id" IS NOT NULL AND ` +
      `polder_row."at" >= CAST('2026-01-31 08:00:00.123456 UTC' AS timestamp(6) with time zone) AND ` +
      `(polder_row."at" > CAST('2026-01-31 08:00:00.123456 UTC' AS timestamp(6) with time zone) OR polder_row."id" > CAST('7' AS bigint)) ` +
      `ORDER BY polder_row."at", polder_row."id" FETCH FIRST 100 ROWS WITH TIES`,
  );
});

test('a table that only grows is read by its key alone, from its beginning if there is no position', () => {
  const growing = feed({ change: id, order: id });
  expect(feedQuery(growing, { change: '7', order: '7' }, 0)).toMatch(
    /AND polder_row\."id" > CAST\('7' AS bigint\) ORDER BY/,
  );
  expect(feedQuery(growing, undefined, 0)).not.toContain('>');
});

test('checkpoints that know the key alone are read on from there', () => {
  const query = feedQuery(feed({ change: at, order: id }), { change: undefined, order: '7' }, 0);
  expect(query).toContain(`AND polder_row."id" > CAST('7' AS bigint) ORDER BY`);
});

test('what a checkpoint says can not leave its quotes, and what it can not mean is told', () => {
  const named = column('name', 'varchar');
  const query = feedQuery(
    feed({ change: named, order: named }),
    { change: `x' OR TRUE --`, order: `x' OR TRUE --` },
    0,
  );
  expect(query).toContain(`polder_row."name" > 'x'' OR TRUE --' ORDER BY`);
  expect(() => feedQuery(feed({ change: id, order: id }), { change: '1; DROP', order: '1; DROP' }, 0)).toThrow(
    'the checkpoint has no bigint for column "id": it is of another table; reset it',
  );
});

test('a query that nothing tracks is asked as it is', () => {
  expect(feedQuery({ relation: 'SELECT 1 ORDER BY 1', keyset: undefined }, undefined, 10)).toBe('SELECT 1 ORDER BY 1');
});
