import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fieldsOf } from './json-fields.ts';

test('every field of any object is found, with the text of its value', () => {
  const spaces = fc.constantFrom('', ' ', '\n\t');
  fc.assert(
    fc.property(fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue()), spaces, (object, space) => {
      const text = `${space}${JSON.stringify(object, undefined, space)}${space}`;
      const fields = fieldsOf(text);
      const parsed = Object.fromEntries([...(fields ?? [])].map(([key, value]) => [key, JSON.parse(value)]));
      expect(parsed).toEqual(JSON.parse(text));
    }),
  );
});

test('numbers keep their spelling, and the last of two equal keys counts', () => {
  const fields = fieldsOf('{"a":0.10,"b":12345678901234567890, "a":1e5}');
  expect([...(fields ?? [])]).toEqual([
    ['a', '1e5'],
    ['b', '12345678901234567890'],
  ]);
});

test('what is no object has no fields, and no text is too broken to look at', () => {
  for (const text of [
    '',
    'null',
    '[1]',
    '"a"',
    '{',
    '{"a"',
    '{"a":',
    '{"a":1',
    '{"a":1}}',
    '{"a":1} x',
    '{,}',
    '{"a":}',
  ])
    expect({ text, fields: fieldsOf(text) }).toEqual({ text, fields: undefined });
  const unit = fc.constantFrom('{', '}', '[', ']', '"', ',', ':', '\\', ' ', 'a', '1');
  fc.assert(fc.property(fc.string({ unit }), (text) => void fieldsOf(text)));
});
