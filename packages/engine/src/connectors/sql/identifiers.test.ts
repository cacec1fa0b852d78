import { expect, test } from 'vitest';
import { partsOf, quoted, quotedTable } from './identifiers.ts';

test('no name can leave its quotes', () => {
  expect(quoted('a"; DROP TABLE t; --')).toBe('"a""; DROP TABLE t; --"');
});

test('a table is named with or without its schema', () => {
  expect(quotedTable('orders')).toBe('"orders"');
  expect(quotedTable('sales.orders')).toBe('"sales"."orders"');
  expect(partsOf('"My.Schema"."a""b"')).toEqual(['My.Schema', 'a"b']);
});
