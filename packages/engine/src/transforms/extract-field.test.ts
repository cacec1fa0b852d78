import { expect, test } from 'vitest';
import { extractField } from './extract-field.ts';
import { hoistField } from './hoist-field.ts';
import { isUntouched, textOf } from './test-message.ts';

test.each([
  ['payload.after', '{"payload":{"after":{"id":1}}}', '{"id":1}'],
  ['$.items', '{"items":[1,2,0.10]}', '[1,2,0.10]'],
  ['n', '{"n":null}', 'null'],
  ['a[1]', '{"a":[1,"x"]}', '"x"'],
])('%s of %s', (field, before, after) => expect(textOf(extractField({ field }), before)).toBe(after));

test('without the field the message passes untouched', () => {
  for (const payload of ['{ "b": 1 }', '[1]', 'null', 'no json', Buffer.from([0, 255]), null])
    expect(isUntouched(extractField({ field: 'a' }), payload)).toBe(true);
});

test('it takes out what hoistField put in', () => {
  const hoist = hoistField({ field: 'record' });
  for (const text of ['{"id":0.10}', '[1]', 'null', '"x"']) {
    const hoisted = textOf(hoist, text);
    expect(hoisted).toBe(`{"record":${text}}`);
    expect(textOf(extractField({ field: 'record' }), hoisted)).toBe(text);
  }
});
