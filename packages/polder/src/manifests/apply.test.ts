import { createApiServer } from '@polder/embedded';
import { Client, ConfigMap, systemClock as clock, Namespace } from '@polder/kube';
import { beforeEach, describe, expect, test } from 'vitest';
import { applyManifests } from './apply.ts';
import { parseManifests } from './read.ts';

let client: Client;
beforeEach(() => {
  client = new Client({ transport: createApiServer({ clock }).transport(), userAgent: 'test', clock });
});

const apply = async (text: string, signal = new AbortController().signal) => {
  const did: string[] = [];
  await applyManifests(parseManifests(text, 'x.yaml'), {
    client,
    clock,
    signal,
    applied: (one) => void did.push(`${one.object.kind} ${one.object.metadata.name} ${one.did}`),
  });
  return did;
};
const map = (name: string, fields = '') => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\n${fields}---\n`;

const WIDGETS = `
apiVersion: example.com/v1
kind: Widget
metadata: {name: one, namespace: new}
---
apiVersion: v1
kind: Namespace
metadata: {name: new}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`;

describe('manifests', () => {
  test('are applied, and a second time change nothing', async () => {
    expect(await apply(map('a', 'data: {x: "1"}\n'))).toEqual(['ConfigMap a created']);
    expect(await apply(map('a', 'data: {x: "1"}\n'))).toEqual(['ConfigMap a unchanged']);
    expect(await apply(map('a', 'data: {x: "2"}\n'))).toEqual(['ConfigMap a changed']);
  });

  test('are no more applied once somebody has had enough', async () => {
    const enough = AbortSignal.timeout(5);
    const many = Array.from({ length: 1000 }, (_, number) => map(`map-${number}`));
    await expect(apply(many.join(''), enough)).rejects.toThrow(/aborted due to timeout/);
  });

  test('are where kubectl apply goes on: it owns their fields, and finds what it applied last', async () => {
    await apply(map('a', 'data: {x: "1"}\n'));
    const { metadata } = await client.get(ConfigMap, { namespace: 'default', name: 'a' });
    expect(metadata.managedFields?.map(({ manager }) => manager)).toEqual(['kubectl']);
    expect(metadata.annotations?.['kubectl.kubernetes.io/last-applied-configuration']).toContain('"data":{"x":"1"}');
  });

  test('bring namespaces and definitions before what needs them, in whatever order they are written', async () => {
    expect(await apply(WIDGETS)).toEqual([
      'Namespace new created',
      'CustomResourceDefinition widgets.example.com created',
      'Widget one created',
    ]);
  });

  test.each([
    [
      'apiVersion: apps/v1\nkind: Deploymnet\nmetadata: {name: a}',
      'no kind Deploymnet in apps/v1; did you mean Deployment?',
    ],
    ['apiVersion: example.org/v1\nkind: Widget\nmetadata: {name: a}', 'is its CustomResourceDefinition missing?'],
    [map('a', 'dta: {x: "1"}\n'), /^x\.yaml, line 1: ConfigMap a is refused: .*dta/],
    [map('Not_A_Name'), /ConfigMap Not_A_Name is refused: .*metadata\.name/],
  ])('that are wrong are told with their place, and nothing is written: %j', async (wrong, message) => {
    await expect(apply(`${wrong}\n---\n${map('good')}${WIDGETS}`)).rejects.toThrow(message);
    await expect(client.get(ConfigMap, { namespace: 'default', name: 'good' })).rejects.toMatchObject({ status: 404 });
    await expect(client.get(Namespace, { name: 'new' })).rejects.toMatchObject({ status: 404 });
  });
});
