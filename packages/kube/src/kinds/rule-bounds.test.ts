import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { crdOf, unboundedUnderRules, withRules } from './index.ts';
import { ClusterThing, kindWith } from './testdata/kinds.ts';

const rule = (text: string) => [{ rule: text, message: 'no' }];
const fields = { a: Type.String(), b: Type.String({ maxLength: 3 }), c: Type.Array(Type.String({ maxLength: 3 })) };
const pathsOf = (spec: object) =>
  unboundedUnderRules(crdOf(kindWith(spec))).map(({ path, message }) => `${path} ${message}`);

test('lists the texts and lists that a rule reads, and only those', () => {
  expect(pathsOf(withRules(Type.Object(fields), rule('self.b == self.a')))).toEqual([
    'v1.spec.a is under a rule and has no maxLength',
  ]);
  expect(pathsOf(withRules(Type.Object(fields), rule('self.c.size() > 1')))).toEqual([
    'v1.spec.c is under a rule and has no maxItems',
  ]);
  expect(pathsOf(withRules(Type.Object(fields), rule('!has(self.a) || self.b == "a"')))).toEqual([]);
  expect(pathsOf(withRules(Type.Object(fields), rule('self == oldSelf')))).toHaveLength(2);
  expect(pathsOf(Type.Object(fields))).toEqual([]);
});

test('lists the lists around a rule', () => {
  const items = withRules(Type.Object({ n: Type.Integer() }), rule('self.n > 1'));
  expect(pathsOf(Type.Object({ list: Type.Array(items) }))).toEqual([
    'v1.spec.list is under a rule and has no maxItems',
  ]);
  expect(pathsOf(Type.Object({ list: Type.Array(items, { maxItems: 3 }) }))).toEqual([]);
});

test('has nothing against a status made by statusOf', () => {
  expect(unboundedUnderRules(crdOf(ClusterThing))).toEqual([]);
});
