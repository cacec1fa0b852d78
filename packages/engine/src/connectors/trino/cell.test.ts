import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { castOf, cellOf } from './cell.ts';
import { parseType } from './type.ts';

/** The text of a cell, or `no: ` and why there is none. */
function cell(json: string, type: string): string | null {
  const made = cellOf(json, parseType(type));
  return 'because' in made ? `no: ${made.because}` : made.text;
}

test.each([
  ['null', 'bigint', null],
  ['9007199254740993', 'bigint', '9007199254740993'],
  ['"9007199254740993"', 'bigint', '9007199254740993'],
  ['1e3', 'bigint', '1000'],
  ['5.0', 'bigint', '5'],
  ['-0', 'bigint', '0'],
  ['1.5', 'bigint', 'no: has 1.5, which is no bigint'],
  ['true', 'bigint', 'no: has true, which is no bigint'],
  ['""', 'bigint', 'no: has "", which is no bigint'],
  ['-129', 'tinyint', 'no: has -129, which is no tinyint'],
  ['-128', 'tinyint', '-128'],
  ['0.10', 'decimal(4,2)', '0.10'],
  ['"-00.1"', 'decimal(4,2)', '-0.10'],
  ['-0.00', 'decimal(4,2)', '0.00'],
  ['99.99', 'decimal(4,2)', '99.99'],
  ['100', 'decimal(4,2)', 'no: has 100, which is no decimal(4,2)'],
  ['1.555', 'decimal(4,2)', 'no: has 1.555, which is no decimal(4,2)'],
  ['1.5500', 'decimal(4,2)', '1.55'],
  ['"."', 'decimal(4,2)', 'no: has ".", which is no decimal(4,2)'],
  ['1e999999999', 'decimal(38,0)', 'no: has 1e999999999, which is no decimal(38,0)'],
  ['1e400', 'double', 'no: has 1e400, which is no double'],
  ['1e39', 'real', 'no: has 1e39, which is no real'],
  ['0.1', 'double', '0.1'],
  ['"NaN"', 'double', 'NaN'],
  ['"TRUE"', 'boolean', 'true'],
  ['1', 'boolean', 'no: has 1, which is no boolean'],
  ['0.10', 'varchar', '0.10'],
  ['"\\u00e9\\n"', 'varchar', 'é\n'],
  ['{"a": 0.10}', 'varchar', '{"a": 0.10}'],
  ['"\\ud800"', 'varchar', 'no: has half a character (a lone surrogate), which no text can have'],
  ['"😀😀"', 'varchar(2)', '😀😀'],
  ['"abc"', 'varchar(2)', 'no: has 3 characters, and varchar(2) holds 2'],
  ['"a   "', 'char(2)', 'a'],
  ['"AP8="', 'varbinary', 'AP8='],
  ['"AP8"', 'varbinary', 'no: has "AP8", which is no varbinary'],
  ['"2024-02-29"', 'date', '2024-02-29'],
  ['"2023-02-29"', 'date', 'no: has "2023-02-29", which is no date'],
  ['"23:59:59.1234567"', 'time(6)', '23:59:59.123456'],
  ['"24:00:00"', 'time(6)', 'no: has "24:00:00", which is no time(6)'],
  ['"12151FD2-7586-11e9-8f9e-2a86e4085a59"', 'uuid', '12151fd2-7586-11e9-8f9e-2a86e4085a59'],
  ['{"a":0.10}', 'json', '{"a":0.10}'],
  ['"10.0.0.1"', 'ipaddress', '10.0.0.1'],
  ['[1]', 'ipaddress', 'no: has [1], which is no ipaddress'],
  ['[0.10,null]', 'array(decimal(4,2))', '["0.10",null]'],
  ['{"2026-01-01":[9007199254740993]}', 'map(date, array(bigint))', '{"2026-01-01":["9007199254740993"]}'],
  ['{"Y":"b","x":1}', 'row(x bigint, y varchar, z date)', '["1","b",null]'],
  ['{"field0":7}', 'row(bigint)', '["7"]'],
  ['[1]', 'row(x bigint)', 'no: has [1], which is no row(x bigint)'],
  ['[["x"]]', 'array(array(bigint))', 'no: has "x", which is no bigint'],
  ['["AP8="]', 'array(varbinary)', `no: has a varbinary within another value, which can't be written`],
])('%s for a %s is %s', (json, type, text) => expect(cell(json, type)).toBe(text));

describe('moments', () => {
  test.each([
    ['"2026-01-31T08:00:00+08:00"', '2026-01-31 00:00:00.000000'],
    ['"2026-01-31T08:00:00.123Z"', '2026-01-31 08:00:00.123000'],
    ['"2026-01-31T23:00:00.5-02:30"', '2026-02-01 01:30:00.500000'],
    ['"2026-01-31 08:00:00.123456789 UTC"', '2026-01-31 08:00:00.123456'],
    ['"2026-01-31T08:00"', '2026-01-31 08:00:00.000000'],
    ['"2026-01-31"', '2026-01-31 00:00:00.000000'],
    ['1767225600', '2026-01-01 00:00:00.000000'],
    ['1767225600123', '2026-01-01 00:00:00.123000'],
    ['1767225600.123456', '2026-01-01 00:00:00.123456'],
    ['1767225600123.4567', '2026-01-01 00:00:00.123456'],
    ['-0.5', '1969-12-31 23:59:59.500000'],
    ['"1767225600"', 'no: has "1767225600", which is no timestamp(6)'],
    ['"2026-02-30T00:00:00Z"', 'no: has "2026-02-30T00:00:00Z", which is no timestamp(6)'],
    ['1e300', 'no: has 1e300, which is no timestamp(6)'],
    ['true', 'no: has true, which is no timestamp(6)'],
  ])('%s is %s in UTC', (json, text) => expect(cell(json, 'timestamp(6)')).toBe(text));

  test('have as many digits as their column, and a zone if it has one', () => {
    expect(cell('"2026-01-31T08:00:00.999999Z"', 'timestamp(0)')).toBe('2026-01-31 08:00:00');
    expect(cell('"2026-01-31T08:00:00+02:00"', 'timestamp(3) with time zone')).toBe('2026-01-31 06:00:00.000 UTC');
  });
});

test('no digit of an integer or a decimal is ever lost', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (n) => {
      expect(cell(String(n), 'bigint')).toBe(String(n));
    }),
  );
  const digits = fc.stringMatching(/^-?[1-9]\d{0,19}\.\d{0,17}[1-9]$/);
  fc.assert(
    fc.property(digits, (number) => {
      const text = cell(number, 'decimal(38,18)') ?? '';
      expect(BigInt(text.replace('.', ''))).toBe(BigInt(number.replace('.', '').padEnd(number.indexOf('.') + 18, '0')));
    }),
  );
});

test('any text of any value is read or refused, and never takes long', () => {
  const types = [
    'bigint',
    'decimal(10,2)',
    'double',
    'date',
    'timestamp(6)',
    'char(3)',
    'varbinary',
    'array(row(x bigint))',
  ];
  fc.assert(
    fc.property(fc.json(), fc.constantFrom(...types), (json, type) => {
      const made = cellOf(json, parseType(type));
      expect('text' in made || made.because.length > 0).toBe(true);
    }),
  );
  const long = '0'.repeat(300_000);
  for (const json of [long, `"${long}"`, `1.${long}1`, `"${' '.repeat(300_000)}x"`, `-${long}`])
    for (const type of types) cellOf(json, parseType(type));
});

test('what a cell says is made a value by a cast of its column, in the words of Trino', () => {
  const casts = {
    varchar: 'r[1]',
    'varchar(3)': 'CAST(r[1] AS varchar(3))',
    varbinary: 'from_base64(r[1])',
    json: 'json_parse(r[1])',
    'timestamp(6) with time zone': 'CAST(r[1] AS timestamp(6) with time zone)',
    'map(date, array(row(x bigint, y varchar)))':
      'CAST(CAST(json_parse(r[1]) AS map(varchar, array(row(varchar, varchar)))) AS map(date, array(row(x bigint, y varchar))))',
  };
  for (const [type, sql] of Object.entries(casts)) expect(castOf(parseType(type), 'r[1]')).toBe(sql);
});
