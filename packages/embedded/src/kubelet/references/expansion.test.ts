import fc from 'fast-check';
import { expect, test } from 'vitest';
import { expandKnown } from './expansion.ts';

const known = new Map([
  ['A', 'a'],
  ['EMPTY', ''],
  ['NESTED', '$(A)'],
]);

test.each([
  ['$(A)', 'a'],
  ['x$(A)y$(A)', 'xaya'],
  ['$(EMPTY)', ''],
  ['$(UNKNOWN)', '$(UNKNOWN)'],
  ['$$(A)', '$(A)'],
  ['$$$(A)', '$a'],
  ['$$$$(A)', '$$(A)'],
  ['$(NESTED)', '$(A)'],
  ['$($(A))', '$($(A))'],
  ['$(A', '$(A'],
  ['$(A$$', '$(A$'],
  ['$A ${A} $', '$A ${A} $'],
  ['$()', '$()'],
])('%s becomes %s', (text, expanded) => {
  expect(expandKnown(text, known)).toBe(expanded);
});

test('whatever a text says, it comes out as it is when its dollars are doubled', () => {
  const characters = fc.constantFrom('$', '(', ')', 'A', 'é', ' ');
  fc.assert(
    fc.property(fc.array(characters), (parts) => {
      const text = parts.join('');
      expect(expandKnown(text.replaceAll('$', '$$$$'), known)).toBe(text);
    }),
  );
});
