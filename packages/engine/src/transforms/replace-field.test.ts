import { expect, test } from 'vitest';
import { replaceField } from './replace-field.ts';
import { isUntouched, textOf } from './test-message.ts';

test.each([
  [['oldName:newName'], '{"oldName":"value","other":"otherValue"}', '{"newName":"value","other":"otherValue"}'],
  [
    ['oldName:newName', 'key.sku:sku'],
    '{"oldName":"value","key":{"sku":"12345"},"other":"keep"}',
    '{"newName":"value","sku":"12345","other":"keep"}',
  ],
  [['key.sku:sku', 'body.lc:lc'], '{"key":{"sku":"12345"},"body":{"lc":"en"}}', '{"sku":"12345","lc":"en"}'],
  [['key.sku:sku'], '{"key":{"sku":0.10,"x":1},"z":1}', '{"key":{"x":1},"z":1,"sku":0.10}'],
  [['oldName:new.path'], '{"oldName":"value"}', '{"new":{"path":"value"}}'],
  [['$.key.sku:$.sku'], '{"key":{"sku":"12345"}}', '{"sku":"12345"}'],
  [['a.b:a.c'], '{"a":{"b":1,"x":2}}', '{"a":{"c":1,"x":2}}'],
  [['a.b:a.c'], '{"a":{"b":1}}', '{"a":{"c":1}}'],
  [['a:a.b'], '{"z":0,"a":1}', '{"z":0,"a":{"b":1}}'],
  [['a.b:a'], '{"a":{"b":1},"z":0}', '{"a":1,"z":0}'],
  [['a:b'], '{"a":1,"b":2,"c":3}', '{"b":1,"c":3}'],
  [['a.0:first'], '{"a":[1,2]}', '{"a":[2],"first":1}'],
  [['a:b', 'b:c'], '{"a":null}', '{"c":null}'],
])('renames %j in %s', (renames, before, after) => expect(textOf(replaceField({ renames }), before)).toBe(after));

test.each([
  [
    ['user.id', 'user.name', 'status'],
    '{"user":{"id":1,"name":"John","email":"e"},"status":"active","extra":"x"}',
    '{"user":{"id":1,"name":"John"},"status":"active"}',
  ],
  [['items.#.sku', 'n.0'], '{"items":[{"sku":1,"x":2},{"x":3}],"n":[5,6]}', '{"items":[{"sku":1}],"n":[5]}'],
  [['u*'], '{"u1":1,"v":2,"u2":{"a":1}}', '{"u1":1,"u2":{"a":1}}'],
  [['none'], '{"secret":1}', '{}'],
])('includes %j of %s, where it is', (include, before, after) =>
  expect(textOf(replaceField({ include }), before)).toBe(after),
);

test('excludes, and renames what is left by the names that came', () => {
  expect(
    textOf(replaceField({ exclude: ['password', 'u.x'], renames: ['a:b'] }), '{"a":1,"password":"p","u":{"x":1}}'),
  ).toBe('{"b":1,"u":{}}');
  expect(textOf(replaceField({ include: ['a'], renames: ['a:b'] }), '{"a":1,"c":2}')).toBe('{"b":1}');
});

test('what there is nothing to do on passes untouched', () => {
  for (const payload of ['{ "other": 1 }', '{"field":1}', '[1]', 'no json', Buffer.from([0, 255]), null]) {
    expect(
      isUntouched(replaceField({ renames: ['nonexistent:newName', 'field:field', '$.field:field'] }), payload),
    ).toBe(true);
  }
});

test.each([
  [{ renames: ['invalid-format'] }, 'renames[0]', 'invalid rename format'],
  [{ renames: ['a:b', ':c'] }, 'renames[1]', 'invalid rename format'],
  [{ include: ['a'], exclude: ['b'] }, 'exclude', 'only one'],
  [{}, 'renames', 'at least one'],
  [{ renames: ['a.#.b:c'] }, 'renames[0]', "without '#'"],
])('%j is refused', (config, field, because) => {
  expect(() => replaceField(config)).toThrow(
    expect.objectContaining({ field, message: expect.stringContaining(because) }),
  );
});
