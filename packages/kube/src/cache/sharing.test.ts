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
    fc.property(json, json, json, (value, known, alike) => {
      const [before, knownBefore, alikeBefore] = [copy(value), copy(known), copy(alike)];
      expect(copy(shared(copy(value), known, alike))).toEqual(before);
      expect([known, alike]).toEqual([knownBefore, alikeBefore]);
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

test('what an object does not have in common with its predecessor, it has with a sibling', () => {
  const known = { spec: { image: 'a' }, status: { ready: false, conditions: [{ type: 'Ready' }] } };
  const alike = { spec: { image: 'a' }, status: { ready: true, conditions: [{ type: 'Ready' }] } };
  const value = shared({ ...structuredClone(alike), name: 'c' }, { ...known, name: 'a' }, { ...alike, name: 'b' });
  expect(value.spec).toBe(known.spec);
  expect(value.status.conditions).toBe(known.status.conditions);
  const other = shared({ spec: { image: 'b' }, status: structuredClone(alike.status) }, undefined, alike);
  expect(other.status).toBe(alike.status);
});

test('an empty list is no empty object', () => {
  expect(shared<unknown>([], {}, {})).toEqual([]);
  expect(shared<unknown>({}, [], [])).toEqual({});
});

test('what is frozen has other owners, and stays as it is', () => {
  const fields = Object.freeze({ a: { b: 1 } });
  const value = shared({ fields, x: [1] }, { fields: { a: { b: 1 } }, x: [1] });
  expect(value.fields).toBe(fields);
});
