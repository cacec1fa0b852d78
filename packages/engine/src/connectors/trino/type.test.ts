import { expect, test } from 'vitest';
import { parseType } from './type.ts';

/** What is understood of a type, in short. */
function shape(sql: string): unknown {
  const type = parseType(sql);
  switch (type.kind) {
    case 'scalar':
      return [type.name, ...type.parameters].join(' ');
    case 'array':
      return [shape(type.element.sql)];
    case 'map':
      return { [String(shape(type.key.sql))]: shape(type.value.sql) };
    case 'row':
      return type.fields.map((field) => [field.name, shape(field.type.sql)]);
  }
}

test('types are understood as result headers and information_schema print them', () => {
  const types: Record<string, unknown> = {
    bigint: 'bigint',
    'decimal(38,10)': 'decimal 38 10',
    'decimal(38, 10)': 'decimal 38 10',
    'varchar(3)': 'varchar 3',
    'timestamp(6) with time zone': 'timestamp with time zone 6',
    'interval day to second': 'interval day to second',
    'array(array(decimal(10, 2)))': [['decimal 10 2']],
    'map(varchar, array(double))': { varchar: ['double'] },
    'row(x bigint, y row(z timestamp(6) with time zone))': [
      ['x', 'bigint'],
      ['y', [['z', 'timestamp with time zone 6']]],
    ],
    'row("a, (b" bigint, "c""d" varchar(5))': [
      ['a, (b', 'bigint'],
      ['c"d', 'varchar 5'],
    ],
    'row(bigint, timestamp(3) with time zone, time with time zone)': [
      [undefined, 'bigint'],
      [undefined, 'timestamp with time zone 3'],
      [undefined, 'time with time zone'],
    ],
  };
  expect(Object.fromEntries(Object.keys(types).map((sql) => [sql, shape(sql)]))).toEqual(types);
});
