import fc from 'fast-check';
import { expect, test } from 'vitest';
import { shared } from './sharing.ts';

const copy = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
/** Small alphabets, so that two values often have parts in common. */
const { json } = fc.letrec((tie) => ({
  leaf: fc.constantFrom(null, true, 0, 1, '', 'a'),
  json: fc.oneof(
    { maxDepth: 3 },
    tie('leaf'),
    fc.array(tie('json'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('json')),
  ),
}));

test('a value is the same after it was shared, and what it was shared with is untouched', () => {
  fc.assert(
    fc.property(json, json, (value, known) => {
      const [before, knownBefore] = [copy(value), copy(known)];
      expect(copy(shared(copy(value), known))).toEqual(before);
      expect(known).toEqual(knownBefore);
    }),
  );
});

test('equal parts are held once', () => {
  const known = { spec: { containers: [{ name: 'a', env: [{ name: 'X' }] }], node: 'one' }, labels: { app: 'shop' } };
  const value = shared({ ...structuredClone(known), spec: { ...structuredClone(known.spec), node: 'two' } }, known);
  expect(value.spec.node).toBe('two');
  expect(value.spec.containers).toBe(known.spec.containers);
  expect(value.labels).toBe(known.labels);
  expect(shared(structuredClone(known), known)).toBe(known);
});

test('what is frozen has other owners, and stays as it is', () => {
  const fields = Object.freeze({ a: { b: 1 } });
  const value = shared({ fields, x: [1] }, { fields: { a: { b: 1 } }, x: [1] });
  expect(value.fields).toBe(fields);
});
