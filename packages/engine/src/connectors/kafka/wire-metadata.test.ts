import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Binary, bytesOf, headerBytesOf, headersOf, textOf } from './wire-metadata.ts';

test('a text key is a string, none is null, and one that is no UTF-8 says so in JSON', () => {
  expect(textOf(Buffer.from('größe'))).toBe('größe');
  expect(textOf(null)).toBeNull();
  expect(textOf(Buffer.alloc(0))).toBe('');
  const binary = textOf(Buffer.from([0xff, 0x01]));
  expect(binary).toBeInstanceOf(Binary);
  expect(JSON.stringify({ key: binary })).toBe('{"key":{"base64":"/wE="}}');
  expect(String(binary)).toBe('\u{fffd}\u0001');
});

test('what is no key of a record makes none', () => {
  expect([undefined, 7, {}, ['a']].map(bytesOf)).toEqual([null, null, null, null]);
});

test('the bytes of any key and of any headers come back as they were', () => {
  const bytes = fc.uint8Array({ maxLength: 20 }).map((array) => Buffer.from(array));
  const value = fc.option(bytes);
  // Headers of one name come back together, so each name comes once here, or twice in a row.
  const name = fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor'));
  const headers = fc
    .uniqueArray(fc.record({ name, values: fc.array(value, { minLength: 1, maxLength: 3 }) }), {
      selector: ({ name }) => name,
    })
    .filter((list) => list.every(({ name }) => !/^\d+$/.test(name)))
    .map((list) => list.flatMap(({ name, values }) => values.map((one) => [Buffer.from(name), one] as const)));
  fc.assert(
    fc.property(value, headers, (key, pairs) => {
      expect(bytesOf(textOf(key))).toEqual(key);
      expect([...(headerBytesOf(headersOf(pairs)) ?? [])]).toEqual(pairs.map((pair) => [...pair]));
    }),
  );
});
