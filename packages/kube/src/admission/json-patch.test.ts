import fc from 'fast-check';
import { expect, test } from 'vitest';
import { applyJsonPatch } from '../../test/json-patch.ts';
import { differences } from './json-patch.ts';

const document = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<unknown>(null, true, 0, 1, 'a', 'b', ''),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c/d', 'e~f', '~1', '', '0', '-', '__proto__'), tie('value'), {
      noNullPrototype: true,
    }),
  ),
})).value;

test('applied to the one, the patch gives the other, whatever the two are', () => {
  fc.assert(
    fc.property(document, document, (from, to) => {
      expect(applyJsonPatch(from, differences(from, to))).toEqual(to);
    }),
    { numRuns: 1000 },
  );
});

test('an object that was not changed gives no patch', () => {
  fc.assert(
    fc.property(document, (one) => {
      expect(differences(one, structuredClone(one))).toEqual([]);
    }),
  );
});

test('one more element in the middle of a list is one operation', () => {
  expect(differences({ args: ['a', 'b', 'c'] }, { args: ['a', 'x', 'b', 'c'] })).toEqual([
    { op: 'add', path: '/args/1', value: 'x' },
  ]);
});
