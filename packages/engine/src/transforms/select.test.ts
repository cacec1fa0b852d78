import { expect, test } from 'vitest';
import { select } from './select.ts';
import { isUntouched, textOf } from './test-message.ts';

test.each([
  [['u.id'], '{"u":{"id":3,"n":"x"}}', '{"id":3}'],
  [
    ['id', 'name', 'email'],
    '{"id":1,"name":"John Doe","email":"john@example.com","password":"secret","internal_id":999}',
    '{"id":1,"name":"John Doe","email":"john@example.com"}',
  ],
  [
    ['user.id', 'user.name', '$.metadata.timestamp'],
    '{"user":{"id":1,"name":"John","email":"e"},"metadata":{"timestamp":"t","source":"api"}}',
    '{"id":1,"name":"John","timestamp":"t"}',
  ],
  [['b', 'a', 'missing'], '{"a":0.10,"b":9007199254740993}', '{"b":9007199254740993,"a":0.10}'],
  [['a.id', 'b.id'], '{"a":{"id":1},"b":{"id":2}}', '{"id":2}'],
  [['items.#.sku', 'items[0]'], '{"items":[{"sku":1},{"sku":2}]}', '{"sku":[1,2],"0":{"sku":1}}'],
  [['u.*'], '{"u":{"a":1,"b":2}}', '{"a":1,"b":2}'],
  [['p*.q'], '{"p1":{"q":1},"p2":{"q":2}}', '{"q":2}'],
  [['n'], '{"n":null}', '{"n":null}'],
  [['0.a', '1.b'], '[{"a":1},{"b":2}]', '{"a":1,"b":2}'],
])('%j of %s', (fields, before, after) => expect(textOf(select({ fields }), before)).toBe(after));

test('an object with none of the fields leaves empty, never whole', () => {
  expect(textOf(select({ fields: ['$.id'] }), '{"password":"secret"}')).toBe('{}');
});

test('what has no fields passes untouched', () => {
  for (const payload of ['[1]', 'null', '"x"', 'no json', Buffer.from([0, 255]), null]) {
    expect(isUntouched(select({ fields: ['id'] }), payload)).toBe(true);
  }
});
