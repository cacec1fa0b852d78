import { expect, test } from 'vitest';
import { remove } from './remove.ts';
import { isUntouched, textOf } from './test-message.ts';

test.each([
  [
    ['password', 'creditCard', 'ssn'],
    '{"id":1,"name":"John Doe","password":"s","creditCard":"1234","ssn":"123-45-6789"}',
    '{"id":1,"name":"John Doe"}',
  ],
  [
    ['user.password', '$.metadata.internal'],
    '{"user":{"id":1,"password":"s"},"metadata":{"timestamp":"t","internal":"s"}}',
    '{"user":{"id":1},"metadata":{"timestamp":"t"}}',
  ],
  [['a.0', 'a.0'], '{"a":[1,2,3],"z":0.10}', '{"a":[3],"z":0.10}'],
  [['a.#.b', 'c*'], '{"a":[{"b":1,"d":2}],"c1":1,"c2":2}', '{"a":[{"d":2}]}'],
])('%j from %s', (fields, before, after) => expect(textOf(remove({ fields }), before)).toBe(after));

test('what is missing is skipped, and the message passes untouched', () => {
  for (const payload of ['{ "a": 1 }', '[1]', 'null', 'no json', Buffer.from([0, 255]), null]) {
    expect(isUntouched(remove({ fields: ['x', 'a.b'] }), payload)).toBe(true);
  }
});
