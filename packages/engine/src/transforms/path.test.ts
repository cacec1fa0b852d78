import { describe, expect, test } from 'vitest';
import { type Json, parseJson, printJson } from '../json/index.ts';
import { Path } from './path.ts';
import { matchesPattern, parsePath } from './path-syntax.ts';

const json = (text: string): Json => parseJson(text) ?? null;
const got = (path: string, text: string) => {
  const value = new Path(path).get(json(text));
  return value === undefined ? 'missing' : printJson(value);
};
const removed = (path: string, text: string) => printJson(new Path(path).remove(json(text)));
const set = (path: string, text: string) => printJson(Path.compileTarget('field', path).set(json(text), 'X'));
const updated = (path: string, text: string) => printJson(new Path(path).update(json(text), () => 'X'));

describe('reading', () => {
  const doc = '{"a":{"b":1,"c.d":2,"x*":3},"items":[{"sku":"p","n":[1,2]},{"sku":"q"},{}],"0":"zero","$":"dollar"}';
  test.each([
    ['a.b', '1'],
    ['$.a.b', '1'],
    ['$a.b', '1'],
    [String.raw`a.c\.d`, '2'],
    [String.raw`a.x\*`, '3'],
    ['items.0.sku', '"p"'],
    ['items[1].sku', '"q"'],
    ['$.items[0].n[1]', '2'],
    ['items.#.sku', '["p","q"]'],
    ['items[*].sku', '["p","q"]'],
    ['items.#', '3'],
    ['items[*].n', '[[1,2]]'],
    ['items.#.n.#', '[2]'],
    ['items.#.missing', '[]'],
    ['a.*', '1'],
    ['a.c*', '2'],
    ['a.?', '1'],
    ['0', '"zero"'],
    [String.raw`\$`, '"dollar"'],
    ['a.b.c', 'missing'],
    ['items.7', 'missing'],
    ['items.-1', 'missing'],
    ['items.sku', 'missing'],
    ['a.#', 'missing'],
    ['toString', 'missing'],
    ['a.__proto__', 'missing'],
    ['A', 'missing'],
    [':0', '"zero"'],
  ])('%s', (path, value) => expect(got(path, doc)).toBe(value));

  test('of an array, and of what has no fields', () => {
    expect(got('1', '[5,6]')).toBe('6');
    expect(got('$[0]', '[5,6]')).toBe('5');
    expect(got('#.a', '[{"a":1},{"a":0.10}]')).toBe('[1,0.10]');
    for (const text of ['null', '"text"', '5', 'true']) expect(got('a', text)).toBe('missing');
    expect(new Path('a').get(undefined)).toBeUndefined();
  });

  test('a pattern stands for the first key behind which there is something', () => {
    expect(got('p*.n', '{"p1":{"m":1},"x":{"n":2},"p2":{"n":3},"p3":{"n":4}}')).toBe('3');
  });

  test('a key that begins with @ is a key, unless gjson would do something with it', () => {
    expect(got('@timestamp', '{"@timestamp":1}')).toBe('1');
    expect(got(String.raw`\@this`, '{"@this":1}')).toBe('1');
  });
});

describe('what is not supported is refused, with the place', () => {
  test.each([
    ['items.#(sku=="p").n', 7, 'queries'],
    ['a|b', 2, 'pipes'],
    ['a.{b,c}', 3, 'multipaths'],
    ['[a,b]', 1, 'brackets'],
    ['a.@reverse', 3, 'modifiers'],
    ['@this', 1, 'modifiers'],
    ['!"x"', 1, 'literals'],
    ['a..b', 3, 'empty segment'],
    ['$..a', 3, 'empty segment'],
    ['a.', 3, 'empty segment'],
    ['', 1, 'names a field'],
    ['$', 1, 'names a field'],
    ['a[b]', 2, 'brackets'],
    ['a[0', 2, 'brackets'],
    ['a[0]b', 5, "after ']'"],
    ['a\\', 3, 'escapes'],
    ['a[-1]', 2, 'brackets'],
  ])('%s', (path, position, because) => {
    expect(() => parsePath(path)).toThrow(
      expect.objectContaining({ position, message: expect.stringContaining(because) }),
    );
  });

  test('so is a path without end', () => {
    expect(() => parsePath('a.'.repeat(200).slice(0, -1))).toThrow('at most 100 segments');
  });
});

describe('writing', () => {
  test.each([
    ['b', '{"a":1}', '{"a":1,"b":"X"}'],
    ['a', '{"a":1,"b":2}', '{"a":"X","b":2}'],
    ['a.b.c', '{}', '{"a":{"b":{"c":"X"}}}'],
    ['a.b', '{"a":5,"z":0.10}', '{"a":{"b":"X"},"z":0.10}'],
    ['a.b', '{"a":null}', '{"a":{"b":"X"}}'],
    ['a.2', '{}', '{"a":[null,null,"X"]}'],
    ['a.1', '{"a":[1,2,3]}', '{"a":[1,"X",3]}'],
    ['a.4', '{"a":[1]}', '{"a":[1,null,null,null,"X"]}'],
    ['a.-1', '{"a":[1]}', '{"a":[1,"X"]}'],
    ['a.:1', '{}', '{"a":{"1":"X"}}'],
    ['a.1', '{"a":{"b":2}}', '{"a":{"b":2,"1":"X"}}'],
    ['a.0.b', '{"a":[{"c":1}]}', '{"a":[{"c":1,"b":"X"}]}'],
    [String.raw`a\.b`, '{}', '{"a.b":"X"}'],
    ['5', '{"b":1}', '{"b":1,"5":"X"}'],
    ['__proto__.x', '{"b":1}', '{"b":1,"__proto__":{"x":"X"}}'],
  ])('%s into %s', (path, before, after) => expect(set(path, before)).toBe(after));

  test('a name can not be set in an array', () => {
    expect(() => set('a.b', '{"a":[]}')).toThrow("'a.b' can't be set: 'b' is no index, and an array is there");
  });

  test('an index that would fill the memory is refused beforehand, as are several fields at once', () => {
    expect(() => set('a.4000000000', '{}')).toThrow('highest index');
    expect(() => set('a.#.b', '{}')).toThrow("without '#'");
    expect(() => set('a.*', '{}')).toThrow("without '#'");
  });

  test.each([
    ['a', '{"a":1,"b":2}', '{"a":"X","b":2}'],
    ['c', '{"a":1}', '{"a":1}'],
    ['a.#', '{"a":[1,2]}', '{"a":["X","X"]}'],
    ['a[*].b', '{"a":[{"b":1},{"c":1}]}', '{"a":[{"b":"X"},{"c":1}]}'],
    ['*', '{"a":1,"b":2}', '{"a":"X","b":"X"}'],
    ['p*.q', '{"p1":{"q":1},"p2":{"q":1},"r":{"q":1}}', '{"p1":{"q":"X"},"p2":{"q":"X"},"r":{"q":1}}'],
    ['a.9', '{"a":[1]}', '{"a":[1]}'],
  ])('every value that %s names in %s', (path, before, after) => expect(updated(path, before)).toBe(after));
});

describe('removing', () => {
  test.each([
    ['a', '{"a":1,"b":0.10}', '{"b":0.10}'],
    ['a.b', '{"a":{"b":1}}', '{"a":{}}'],
    ['a.0', '{"a":[1,2,3]}', '{"a":[2,3]}'],
    ['a.#', '{"a":[1,2]}', '{"a":[]}'],
    ['a.#.b', '{"a":[{"b":1,"c":2},{"b":3}]}', '{"a":[{"c":2},{}]}'],
    ['a.*', '{"a":{"b":1,"c":2}}', '{"a":{}}'],
    ['x?', '{"x1":1,"x":2,"10":3,"x2":4}', '{"x":2,"10":3}'],
    ['c', '{"a":1}', '{"a":1}'],
    ['a.-1', '{"a":[1,2]}', '{"a":[1,2]}'],
    ['a.b', '{"a":[1]}', '{"a":[1]}'],
  ])('%s from %s', (path, before, after) => expect(removed(path, before)).toBe(after));
});

test('what is not named is shared, and what is not changed is the same', () => {
  const document = json('{"a":{"b":1},"c":{"d":[1,2]}}');
  const changed = new Path('a.b').update(document, () => 2);
  expect(changed).not.toBe(document);
  expect(new Path('c').get(changed)).toBe(new Path('c').get(document));
  expect(new Path('x.y').remove(document)).toBe(document);
  expect(new Path('c.d.#').update(document, (value) => value)).toBe(document);
  expect(printJson(document)).toBe('{"a":{"b":1},"c":{"d":[1,2]}}');
});

test('a pattern takes no more steps than its length times that of the key', () => {
  let steps = 0;
  const part = {
    get char() {
      steps += 1;
      return 'a';
    },
  };
  const end = {
    get char() {
      steps += 1;
      return 'b';
    },
  };
  const pattern = [...Array.from({ length: 20 }, () => ['many', part] as const).flat(), end];
  expect(matchesPattern(pattern, 'a'.repeat(2000))).toBe(false);
  expect(steps).toBeLessThan(2 * pattern.length * 2000);
});
