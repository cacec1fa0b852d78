import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  ExactNumber,
  entriesOf,
  get,
  isObject,
  type Json,
  MAX_DEPTH,
  OrderedObject,
  parseJson,
  printJson,
} from './index.ts';

const again = (text: string) => {
  const value = parseJson(text);
  return value === undefined ? undefined : printJson(value);
};

describe('numbers keep their spelling', () => {
  test.each([
    '0.10',
    '1.0',
    '1e3',
    '1E3',
    '1e+3',
    '-0',
    '-0.0',
    '0.0',
    '9007199254740993',
    '18446744073709551615',
    '-9223372036854775808',
    '123456789012345678901234567890',
    '0.1234567890123456789',
    '0.0000001',
    '1e400',
    '100',
    '0.5',
    '-12.75',
    '123456789.123456789',
  ])('%s', (number) => {
    for (const text of [number, `[${number}]`, `{"a":${number}}`, `{"a":[1,${number}],"b":${number}}`])
      expect(again(text)).toBe(text);
    expect(again(`{ "a" : ${number} }`)).toBe(`{"a":${number}}`);
    expect(again(`{"a":\n${number}\n}`)).toBe(`{"a":${number}}`);
    expect(again(`[\t${number}\t, ${number} ]`)).toBe(`[${number},${number}]`);
  });

  test('whatever the number', () => {
    const digits = fc.stringMatching(/^-?(0|[1-9]\d{0,25})(\.\d{1,25})?([eE][+-]?\d{1,4})?$/);
    fc.assert(
      fc.property(digits, (number) => {
        const text = `{"a":${number},"b":[${number}]}`;
        expect(again(text)).toBe(text);
      }),
    );
  });

  test('and an ordinary one is an ordinary number', () => {
    expect(parseJson('{"a":12.5,"b":1.50}')).toEqual({ a: 12.5, b: new ExactNumber('1.50') });
  });
});

describe('keys keep their order', () => {
  test.each([
    '{"b":1,"10":2,"2":3,"a":4}',
    '{"2":{"1":0,"0":1},"1":2}',
    '[{"b":1,"0":1}]',
    '{"4294967295":1,"4294967294":2,"a":3}',
    '{"z":1,"__proto__":{"x":1},"a":2}',
    '{"constructor":1,"toString":2}',
    '{"":1,"01":2,"1.5":3}',
  ])('%s', (text) => expect(again(text)).toBe(text));

  test('an escaped digit is a digit', () => {
    expect(again(String.raw`{"b":1,"\u0031":2}`)).toBe('{"b":1,"1":2}');
    expect(again(String.raw`{"b":1,"1\u0032":2,"3" :4}`)).toBe('{"b":1,"12":2,"3":4}');
  });

  test("of equal keys the last one wins, in the first one's place", () => {
    expect(again('{"a":1,"b":2,"a":3}')).toBe('{"a":3,"b":2}');
    expect(again('{"1":1,"b":2,"1":3}')).toBe('{"1":3,"b":2}');
  });

  test('a member called __proto__ is a member', () => {
    const value = parseJson('{"__proto__":{"admin":true},"a":1}');
    expect(isObject(value) && get(value, 'admin')).toBeUndefined();
    expect(isObject(value) && get(value, '__proto__')).toEqual({ admin: true });
    expect(isObject(value) && get(value, 'toString')).toBeUndefined();
  });

  test('an object out of order prints as an object even where JSON.stringify is used', () => {
    expect(JSON.stringify(parseJson('{"b":1,"10":0.10}'))).toBe('{"10":0.10,"b":1}');
  });
});

describe('any text', () => {
  test('that JSON.parse refuses is no JSON, and any other is what it says', () => {
    const texts = fc.oneof(
      fc.json(),
      fc.string(),
      fc.json().chain((text) => fc.nat(text.length).map((at) => text.slice(0, at))),
    );
    fc.assert(
      fc.property(texts, (text) => {
        let expected: string | undefined;
        try {
          expected = JSON.stringify(JSON.parse(text));
        } catch {
          expected = undefined;
        }
        const value = parseJson(text);
        expect(value === undefined).toBe(expected === undefined);
        if (value !== undefined) expect(JSON.stringify(JSON.parse(printJson(value)))).toBe(expected);
      }),
    );
  });

  test('the exact way reads what the fast way reads', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        // The number in front forces the exact way.
        const value = parseJson(`[0.10,${text}]`);
        const plain: Json = JSON.parse(text);
        expect(JSON.stringify(value)).toBe(JSON.stringify([new ExactNumber('0.10'), plain]));
      }),
    );
  });

  test.each([
    '',
    ' ',
    '\uFEFF{}',
    'nul',
    '01',
    '1.',
    '+1',
    '.5',
    '1e',
    '{"a":1,}',
    '[1 2]',
    '{"a" 0.10}',
    "{'a':0.10}",
    '"\n"',
    '0.10 0.10',
    'NaN',
  ])('%j is no JSON', (text) => expect(parseJson(text)).toBeUndefined());

  test('lone surrogates survive', () => {
    expect(again(String.raw`{"a":"\ud800","\udfff":0.10}`)).toBe(String.raw`{"a":"\ud800","\udfff":0.10}`);
  });

  test('nothing is escaped that need not be', () => {
    expect(again('{"a":"<b>&\u2028é"}')).toBe('{"a":"<b>&\u2028é"}');
  });
});

describe('nesting', () => {
  const nested = (levels: number, inside = '1') => `${'{"a":['.repeat(levels / 2)}${inside}${']}'.repeat(levels / 2)}`;

  test(`${MAX_DEPTH} levels are read and printed, exact numbers and unordered keys included`, () => {
    for (const inside of ['1', '0.10', '"}"']) expect(again(nested(MAX_DEPTH, inside))).toBe(nested(MAX_DEPTH, inside));
    const unordered = nested(MAX_DEPTH).replaceAll('"a"', '"1"');
    expect(again(unordered)).toBe(unordered);
  });

  test('a level more is no JSON to us, however many more', () => {
    for (const levels of [MAX_DEPTH + 2, 100_000]) expect(parseJson(nested(levels))).toBeUndefined();
  });

  test('many brackets are not deep, nor are those in strings', () => {
    const wide = JSON.stringify(Array.from({ length: 3 * MAX_DEPTH }, () => [{}]));
    expect(again(wide)).toBe(wide);
    const quoted = JSON.stringify({ a: '['.repeat(3 * MAX_DEPTH), b: '\\"{'.repeat(3 * MAX_DEPTH) });
    expect(again(quoted)).toBe(quoted);
  });

  test('what transformations made deeper than the stack is still printed', () => {
    let value: Json = 1;
    for (let level = 0; level < 50_000; level += 1) value = level % 2 === 0 ? [value] : { a: value };
    expect(printJson(value)).toHaveLength(1 + 25_000 * 2 + 25_000 * '{"a":}'.length);
  });
});

test('entries come in order from both forms', () => {
  const ordered = parseJson('{"b":1,"10":2}');
  expect(ordered).toBeInstanceOf(OrderedObject);
  expect(isObject(ordered) && [...entriesOf(ordered)]).toEqual([
    ['b', 1],
    ['10', 2],
  ]);
});
