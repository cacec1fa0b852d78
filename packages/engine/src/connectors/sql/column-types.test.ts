import { expect, test } from 'vitest';
import { columnTypeOf, inferColumns } from './column-types.ts';
import { fieldsOf } from './json-fields.ts';

test('a value has the type that keeps it exactly', () => {
  const types = {
    null: undefined,
    true: 'boolean',
    '-12': 'integer',
    '9223372036854775807': 'integer',
    '9223372036854775808': 'decimal',
    '-9223372036854775808': 'integer',
    '0.10': 'decimal',
    '1.5e10': 'double',
    '"2026-01-31T08:00:00.123456Z"': 'timestamp',
    '"2026-01-31T08:00:00+02:00"': 'timestamp',
    '"2026-01-31T08:00:00"': 'text',
    '"2026-01-31"': 'text',
    '""': 'text',
    '{"a":1}': 'json',
    '[]': 'json',
  };
  expect(Object.fromEntries(Object.keys(types).map((json) => [json, columnTypeOf(json)]))).toEqual(types);
});

test('a column is as wide as all values that were seen', () => {
  const objects = [
    '{"n":1,"m":1,"t":"2026-01-31T08:00:00Z","j":1,"o":null}',
    '{"n":1.5,"m":"x","t":"soon","j":[],"o":null}',
  ];
  const inferred = inferColumns(objects.map((text) => fieldsOf(text) ?? new Map<string, string>()));
  expect([...inferred]).toEqual([
    ['n', 'decimal'],
    ['m', 'text'],
    ['t', 'text'],
    ['j', 'json'],
    ['o', undefined],
  ]);
});
