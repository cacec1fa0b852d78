import { defineKind, structuralProblems } from '@polder/kube';
import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { crdsAsYaml } from './crds.ts';
import { loadProducts } from './products.ts';

const Switch = defineKind({
  group: 'test.polder.dev',
  version: 'v1',
  kind: 'Switch',
  plural: 'switches',
  spec: Type.Object({ state: Type.Union([Type.Literal('on'), Type.Literal('off')]) }),
  status: Type.Object({}),
});

test('definitions are YAML documents that say on and not true, whoever reads them', () => {
  const text = crdsAsYaml([Switch, Switch]);
  expect(parseAllDocuments(text)).toHaveLength(2);
  expect(text).toMatch(/- "on"\n/);
});

test('every kind of every product has a definition that the API server would take', async () => {
  const kinds = (await loadProducts()).flatMap((product) => product.kinds);
  expect(parseAllDocuments(crdsAsYaml(kinds)).flatMap((document) => structuralProblems(document.toJS()))).toEqual([]);
});
