import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { duplicateKeys } from './duplicate-keys.ts';

it('names each key that an object has twice, once, in order', () => {
  const text = '{"kind":"A","spec":{"a":1,"a":2,"a":{"b":[{"c":"\\"}","c":[]}]}},"metadata":{"name":"x"},"kind":"B"}';
  expect(duplicateKeys(text)).toEqual(['spec.a', 'spec.a.b[0].c', 'kind']);
});

it('sees through escapes in keys', () => {
  expect(duplicateKeys('{"a":1,"\\u0061":2}')).toEqual(['a']);
});

it('finds none in what JSON.stringify writes', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      expect(duplicateKeys(JSON.stringify(JSON.parse(text)))).toEqual([]);
    }),
  );
});
