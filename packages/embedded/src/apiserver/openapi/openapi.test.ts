import { expect, test } from 'vitest';
import { BUILTIN_KINDS } from '../builtin/index.ts';
import { Schema } from '../schema/schema.ts';
import type { ServedKind } from '../served-kind.ts';
import { groupDocument, index } from './index.ts';

const widget = (size: object): ServedKind => ({
  group: 'shop.example.com',
  version: 'v1',
  kind: 'Widget',
  listKind: 'WidgetList',
  plural: 'widgets',
  singular: 'widget',
  shortNames: [],
  categories: [],
  namespaced: true,
  verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
  schema: new Schema({
    description: 'A widget.',
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        properties: {
          size,
          port: { 'x-kubernetes-int-or-string': true },
          template: { type: 'object', 'x-kubernetes-embedded-resource': true, required: ['kind', 'spec'] },
        },
      },
    },
  }),
  subresources: { status: true },
  columns: [],
  origin: 'custom',
});

const kinds = [...BUILTIN_KINDS, widget({ type: 'integer' })];
const path = 'apis/shop.example.com/v1';
const urlOf = (served: readonly ServedKind[], key: string) =>
  JSON.parse(JSON.stringify(index(served))).paths[key]?.serverRelativeURL;

test('each group has its document under a URL that changes with it', () => {
  expect(urlOf(kinds, path)).toMatch(/^\/openapi\/v3\/apis\/shop\.example\.com\/v1\?hash=[0-9A-F]{128}$/);
  const changed = [...BUILTIN_KINDS, widget({ type: 'string' })];
  expect(urlOf(changed, path)).not.toBe(urlOf(kinds, path));
  expect(urlOf(changed, 'api/v1')).toBe(urlOf(kinds, 'api/v1'));
  expect(urlOf(BUILTIN_KINDS, path)).toBeUndefined();
  expect(groupDocument(BUILTIN_KINDS, path)).toBeUndefined();
});

test('a custom kind, and an object within it, is described with the fields that all objects have', () => {
  const document = groupDocument(kinds, path);
  const metadata = { allOf: [{ $ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' }] };
  expect(document).toMatchObject({
    components: {
      schemas: {
        'com.example.shop.v1.Widget': {
          description: 'A widget.',
          properties: {
            apiVersion: { type: 'string' },
            metadata,
            spec: {
              properties: {
                port: { anyOf: [{ type: 'integer' }, { type: 'string' }] },
                template: {
                  required: ['kind', 'spec', 'apiVersion'],
                  properties: { apiVersion: { type: 'string' }, kind: { type: 'string' }, metadata },
                },
              },
            },
          },
          'x-kubernetes-group-version-kind': [{ group: 'shop.example.com', version: 'v1', kind: 'Widget' }],
        },
        'com.example.shop.v1.WidgetList': {},
      },
    },
    paths: {
      '/apis/shop.example.com/v1/namespaces/{namespace}/widgets/{name}': {
        patch: {
          operationId: 'patchShopExampleComV1NamespacedWidget',
          'x-kubernetes-action': 'patch',
          'x-kubernetes-group-version-kind': { group: 'shop.example.com', version: 'v1', kind: 'Widget' },
        },
      },
      '/apis/shop.example.com/v1/namespaces/{namespace}/widgets/{name}/status': {},
      '/apis/shop.example.com/v1/widgets': { get: { 'x-kubernetes-action': 'list' } },
    },
  });
});

test('only built-in kinds offer a strategic merge: kubectl patches with what is offered', () => {
  const strategic = 'application/strategic-merge-patch+json';
  expect(JSON.stringify(groupDocument(kinds, path))).not.toContain(strategic);
  expect(JSON.stringify(groupDocument(kinds, 'api/v1'))).toContain(strategic);
});

test.each(Object.keys(Object(index(kinds)['paths'])))('the document of %s describes everything it refers to', (key) => {
  const text = JSON.stringify(groupDocument(kinds, key));
  const { components }: { components: { schemas: object } } = JSON.parse(text);
  const named = [...text.matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map(([, name = '']) => name);
  expect([...new Set(named)].filter((name) => !Object.hasOwn(components.schemas, name))).toEqual([]);
  const operations = [...text.matchAll(/"operationId":"([^"]+)"/g)].map(([, name]) => name);
  expect(new Set(operations).size).toBe(operations.length);
});
