import { expect, test } from 'vitest';
import { parseJson } from '../json/index.ts';
import { Misfit, toCell } from './cell.ts';
import { primitiveOf, type Type } from './types.ts';

/** What becomes of JSON texts in a column of the type; `-` if they do not fit. */
function cells(type: string | Type, ...texts: readonly string[]): unknown[] {
  const field = { id: 1, name: 'a', isRequired: false, type: typeof type === 'string' ? primitiveOf(type) : type };
  const convert = toCell(field);
  return texts.map((text) => {
    const cell = convert(parseJson(text));
    return cell instanceof Misfit ? '-' : cell;
  });
}

test('integers keep every digit, also as texts, and do not overflow', () => {
  expect(
    cells('int', '1', '1.0', '1e3', '"7"', '2147483647', '2147483648', '-2147483649', '1.5', 'true', '"x"'),
  ).toEqual([1, 1, 1000, 7, 2147483647, '-', '-', '-', '-', '-']);
  expect(cells('long', '9007199254740993', '"9223372036854775807"', '9223372036854775808', '1e400')).toEqual([
    9007199254740993n,
    9223372036854775807n,
    '-',
    '-',
  ]);
});

test('decimals are exact: what has no room does not fit', () => {
  expect(
    cells('decimal(5, 2)', '0.10', '-1.5', '123.45', '"123.450"', '1e2', '1234', '0.001', '999.995', 'null'),
  ).toEqual([10n, -150n, 12345n, 12345n, 10000n, '-', '-', '-', null]);
  expect(cells('decimal(2, 2)', '0.12', '1.00', '0')).toEqual([12n, '-', 0n]);
});

test('floats may be rounded but not become infinite', () => {
  expect(cells('double', '0.1', '1e308', '1e309', '"NaN"', '"-Infinity"', '"1"', '12345678901234567890')).toEqual([
    0.1,
    1e308,
    '-',
    Number.NaN,
    Number.NEGATIVE_INFINITY,
    '-',
    12345678901234567000,
  ]);
  expect(cells('float', '0.1', '1e39')).toEqual([0.1, '-']);
});

test('dates and times are those of the calendar', () => {
  expect(cells('date', '"1970-01-02"', '"2026-02-29"', '"2024-02-29"', '"0001-01-01"', '5')).toEqual([
    1,
    '-',
    19782,
    -719162,
    '-',
  ]);
  expect(cells('time', '"00:00:01"', '"23:59:59.1234567"', '"24:00:00"', '"12:30"')).toEqual([
    1_000_000n,
    86_399_123_456n,
    '-',
    45_000_000_000n,
  ]);
  const moments = [
    '"1970-01-01T00:00:00.000001Z"',
    '"1970-01-01 01:00:00+01:00"',
    '"1970-01-01T00:00:00"',
    '1000',
    '1700000000000',
  ];
  expect(cells('timestamptz', ...moments, '"2026-13-01T00:00:00Z"', '"soon"', '1.5')).toEqual([
    1n,
    0n,
    0n,
    1_000_000_000n,
    1_700_000_000_000_000n,
    '-',
    '-',
    '-',
  ]);
  expect(cells('timestamp_ns', '"1970-01-01T00:00:00.123456789Z"')).toEqual([123_456_789n]);
});

test('texts take anything as JSON, but no half characters', () => {
  expect(cells('string', '"a"', '1.50', 'true', '{"a":[1]}', '"\\ud800"')).toEqual([
    'a',
    '1.50',
    'true',
    '{"a":[1]}',
    '-',
  ]);
});

test('bytes are base64, uuids are uuids', () => {
  expect(cells('binary', '"AP8="', '""', '"?"', '"AP8"')).toEqual([Buffer.from([0, 255]), Buffer.alloc(0), '-', '-']);
  expect(cells('fixed[2]', '"AP8="', '"AA=="')).toEqual([Buffer.from([0, 255]), '-']);
  expect(cells('uuid', '"00000000-0000-0000-0000-0000000000ff"', '"nope"')).toEqual([
    Buffer.from('ff'.padStart(32, '0'), 'hex'),
    '-',
  ]);
});

test('a misfit names the column, down to the nested one, and never the value', () => {
  const inner = { id: 3, name: 'count', isRequired: true, type: { kind: 'int' } } as const;
  const struct: Type = { kind: 'struct', fields: [inner] };
  const list: Type = { kind: 'list', element: { id: 2, name: 'element', isRequired: false, type: struct } };
  const convert = toCell({ id: 1, name: 'items', isRequired: true, type: list });
  const because = (text: string) => {
    const cell = convert(parseJson(text));
    return cell instanceof Misfit ? cell.because : cell;
  };
  expect(because('null')).toBe('column "items" is required and has no value');
  expect(because('"secret"')).toBe('column "items": the value is no list');
  expect(because('[{"count":"secret"}]')).toBe('column "items.element.count": the value is no int');
  expect(because('[{}]')).toBe('column "items.element.count" is required and has no value');
});
