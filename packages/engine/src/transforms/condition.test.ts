import { describe, expect, test } from 'vitest';
import { parseJson } from '../json/index.ts';
import { parseCondition } from './condition.ts';

const meets = (condition: string, text: string) => parseCondition(condition)(parseJson(text));

describe('truth', () => {
  test.each([
    ['true', true],
    ['false', false],
    ['"x"', true],
    ['""', false],
    ['"false"', false],
    ['"0"', true],
    ['1', true],
    ['0', false],
    ['0.00', false],
    ['-0', false],
    ['1e-400', true],
    ['null', false],
    ['{}', true],
    ['[]', true],
  ])('{"a":%s} is %s', (value, expected) => {
    expect(meets('$.a', `{"a":${value}}`)).toBe(expected);
    expect(meets('a', `{"a":${value}}`)).toBe(expected);
    expect(meets('!a', `{"a":${value}}`)).toBe(!expected);
    expect(meets('n.a', `{"n":{"a":${value}}}`)).toBe(expected);
  });

  test('what is missing is not true, nor is what is no JSON', () => {
    expect(meets('a', '{}')).toBe(false);
    expect(meets('a', 'binary')).toBe(false);
    expect(meets('items.#.a', '{"items":[]}')).toBe(true);
    expect(meets('items.#', '{"items":[]}')).toBe(false);
  });
});

describe('comparison by text', () => {
  test.each([
    ["$.status == 'active'", '{"status":"active"}', true],
    ['$.status == "active"', '{"status":"active"}', true],
    ['$.status == active', '{"status":"active"}', true],
    ["$.status=='active'", '{"status":"active"}', true],
    ["$.status == 'active'", '{"status":"inactive"}', false],
    ["$.status == 'active'", '{"status":""}', false],
    ["$.status == 'active'", '{}', false],
    ["$.status != 'deleted'", '{"status":"active"}', true],
    ["$.status != 'deleted'", '{"status":"deleted"}', false],
    ["$.status != 'deleted'", '{}', false],
    ["a == '5'", '{"a":5}', true],
    ['a == 5', '{"a":"5"}', true],
    ['a == true', '{"a":true}', true],
    ["a == ''", '{"a":null}', true],
    ["a == ''", '{"a":""}', true],
    ["a == ''", '{}', false],
    ['a == 1000', '{"a":1e3}', true],
    ['a == 1.5', '{"a":1.50}', true],
    ['a == 9007199254740993', '{"a":9007199254740993}', true],
    ['a == 9007199254740992', '{"a":9007199254740993}', false],
    [String.raw`a == 'it\'s'`, '{"a":"it\'s"}', true],
    [String.raw`a == 'c:\\d\e'`, String.raw`{"a":"c:\\d\\e"}`, true],
    ["a == 'x && y'", '{"a":"x && y"}', true],
    ["a == '[1]'", '{"a":[1]}', true],
    ["user.status == 'ok'", '{"user":{"status":"ok"}}', true],
    [String.raw`a\ b == 1`, '{"a b":1}', true],
    ["items[0].t == 'x'", '{"items":[{"t":"x"}]}', true],
    ['a != -1', '{"a":1}', true],
  ])('%s on %s', (condition, text, expected) => expect(meets(condition, text)).toBe(expected));
});

describe('and, or, not', () => {
  test.each([
    ['$.eventType && $.userId', '{"eventType":"x","userId":1}', true],
    ['$.event_id && $.user_id && $.timestamp', '{"event_id":1,"user_id":2}', false],
    ['a || b && c', '{"a":1}', true],
    ['(a || b) && c', '{"a":1}', false],
    ['a||b', '{"b":1}', true],
    ['!(a && b)', '{"a":1}', true],
    ['!!a', '{"a":1}', true],
    ["a == x&&b != 'y'", '{"a":"x","b":"z"}', true],
    ['( ( a ) )', '{"a":1}', true],
    ["!a == 'x'", '{"a":"y"}', true],
  ])('%s on %s', (condition, text, expected) => expect(meets(condition, text)).toBe(expected));
});

describe('an error names the position', () => {
  test.each([
    ['', 1, 'a field was expected'],
    ['a ==', 5, 'a value was expected'],
    ["a = 'x'", 3, "write '=='"],
    ['a > 5', 3, "'>' is not supported"],
    ["a == 'x", 6, 'never closed'],
    ['(a', 1, 'never closed'],
    ['a)', 2, 'expected'],
    ['a b', 3, 'expected'],
    ['a &&', 5, 'a field was expected'],
    ['a & b', 3, 'expected'],
    ["'x' == a", 1, 'a field was expected'],
    ['a && b.#(c==1)', 8, 'queries'],
    ['a == b c', 8, 'expected'],
  ])('%s', (condition, position, because) => {
    expect(() => parseCondition(condition)).toThrow(
      expect.objectContaining({ position, message: expect.stringContaining(because) }),
    );
  });

  test('nesting without end is refused', () => {
    expect(() => parseCondition('('.repeat(100_000))).toThrow('deeper than 50');
    expect(() => parseCondition('!'.repeat(100_000))).toThrow('deeper than 50');
  });
});

test('a long condition is read in one go', () => {
  const condition = Array.from({ length: 5000 }, (_, n) => `f${n} == '${'\\'.repeat(20)}'`).join(' || ');
  expect(meets(condition, '{"a":1}')).toBe(false);
});

test('each question looks at its field once, whatever else the document holds', () => {
  let looks = 0;
  const members = Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`k${n}`, n]));
  const document = new Proxy(members, {
    getOwnPropertyDescriptor(target, key) {
      looks += 1;
      return Reflect.getOwnPropertyDescriptor(target, key);
    },
    ownKeys() {
      throw new Error('it went through all members');
    },
  });
  const questions = Array.from({ length: 50 }, (_, n) => `missing${n} == 'x'`).join(' || ');
  expect(parseCondition(questions)(document)).toBe(false);
  expect(looks).toBe(50);
});
