import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { crdOf, listMap, structuralProblems } from './index.ts';
import { kindWith } from './testdata/kinds.ts';

const problemsOf = (field: object) =>
  structuralProblems(crdOf(kindWith(Type.Object({ field })))).map(({ path, message }) => `${path}: ${message}`);

describe('structuralProblems finds', () => {
  test.each([
    ['a keyword nobody knows', Type.String({ 'x-other': 1 }), 'v1.spec.field: x-other is no keyword of a CRD'],
    ['a missing type', Type.Unsafe({ maxLength: 3 }), 'v1.spec.field: has no type'],
    ['a list without items', Type.Unsafe({ type: 'array' }), 'v1.spec.field: is a list without items'],
    [
      'a default of the wrong type',
      Type.Integer({ default: 'x' }),
      'v1.spec.field: has a default that its own schema refuses: must be integer',
    ],
    [
      'a key that may be missing',
      listMap(Type.Object({ name: Type.Optional(Type.String()) }), ['name']),
      'v1.spec.field: has the key name, which is neither required nor has a default',
    ],
    [
      'a type in a branch',
      Type.Unsafe({ type: 'string', anyOf: [{ type: 'string' }] }),
      'v1.spec.field: says type inside allOf, anyOf, oneOf or not',
    ],
  ])('%s', (_, field, problem) => {
    expect(problemsOf(field)).toEqual([problem]);
  });
});
