import { describe, expect, test } from 'vitest';
import { type CastType, cast } from './cast.ts';
import { isUntouched, textOf } from './test-message.ts';

const casted = (type: CastType, value: string) =>
  textOf(cast({ spec: { a: type } }), `{"a":${value}}`).slice('{"a":'.length, -1);

describe('what can be converted is', () => {
  test.each<[CastType, string, string]>([
    ['string', '"x"', '"x"'],
    ['string', '0.10', '"0.10"'],
    ['string', '9007199254740993', '"9007199254740993"'],
    ['string', 'true', '"true"'],
    ['int64', '5', '5'],
    ['int64', '5.0', '5'],
    ['int64', '1e3', '1000'],
    ['int64', '"42"', '42'],
    ['int64', '"-007"', '-7'],
    ['int64', '"+5"', '5'],
    ['int64', '"5.0"', '5'],
    ['int64', '9223372036854775807', '9223372036854775807'],
    ['int64', '"-9223372036854775808"', '-9223372036854775808'],
    ['int64', '-0', '-0'],
    ['float64', '"9.99"', '9.99'],
    ['float64', '"0.10"', '0.10'],
    ['float64', '1e3', '1e3'],
    ['float64', '".5"', '0.5'],
    ['float64', '"5."', '5'],
    ['float64', '"1E5"', '1e5'],
    ['bool', 'true', 'true'],
    ['bool', '"TRUE"', 'true'],
    ['bool', '"False"', 'false'],
    ['bool', '0', 'false'],
    ['bool', '1', 'true'],
    ['bool', '1.0', 'true'],
    ['null', '{"x":1}', 'null'],
    ['null', '5', 'null'],
  ])('%s of %s', (type, before, after) => expect(casted(type, before)).toBe(after));
});

describe('what can not fails the message, without telling the value', () => {
  test.each<[CastType, string, string]>([
    ['string', '{}', 'this object is no string'],
    ['string', '[]', 'this array is no string'],
    ['string', 'null', 'null is no string'],
    ['int64', '1.5', 'this number is no int64'],
    ['int64', '"1.5"', 'this string is no int64'],
    ['int64', '9223372036854775808', 'this number'],
    ['int64', '1e400', 'this number'],
    ['int64', 'true', 'this boolean'],
    ['int64', '"abc"', 'this string'],
    ['int64', '""', 'this string'],
    ['int64', '"0x10"', 'this string'],
    ['int64', '" 5"', 'this string'],
    ['float64', '"NaN"', 'this string'],
    ['float64', '1e999', 'this number'],
    ['float64', '"."', 'this string'],
    ['float64', 'null', 'null'],
    ['float64', '"1_000"', 'this string'],
    ['bool', '"yes"', 'this string'],
    ['bool', '2', 'this number'],
    ['bool', '"1"', 'this string'],
    ['bool', 'null', 'null'],
  ])('%s of %s', (type, value, because) => expect(() => casted(type, value)).toThrow(`'a': ${because}`));
});

test('several fields, also in arrays; a missing one is skipped', () => {
  const transform = cast({
    spec: { id: 'int64', '$.amount': 'float64', active: 'bool', 'items.#.n': 'string', gone: null, missing: 'int64' },
  });
  expect(textOf(transform, '{"id":"1","amount":"9.99","active":"true","items":[{"n":1},{}],"gone":5}')).toBe(
    '{"id":1,"amount":9.99,"active":true,"items":[{"n":"1"},{}],"gone":null}',
  );
});

test('what has its type already passes untouched, as does what is no JSON', () => {
  for (const payload of ['{ "a": 5 }', '{}', '[1]', 'no json', Buffer.from([0, 255]), null])
    expect(isUntouched(cast({ spec: { a: 'int64' } }), payload)).toBe(true);
});

test('a million digits are no int64 at once', () => {
  expect(() => casted('int64', `"${'9'.repeat(1_000_000)}"`)).toThrow('is no int64');
});

test('no field is refused', () => {
  expect(() => cast({ spec: {} })).toThrow('at least one');
});
