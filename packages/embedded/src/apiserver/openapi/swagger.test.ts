import { expect, test } from 'vitest';
import { BUILTIN_KINDS } from '../builtin/index.ts';
import { swagger } from './index.ts';
import { swaggerPaths, swaggerSchemas } from './swagger.ts';

const document = swagger(BUILTIN_KINDS);

test('everything that is referred to is defined', () => {
  const text = JSON.stringify(document);
  expect(text).not.toContain('#/components/');
  const named = [...text.matchAll(/"\$ref":"#\/definitions\/([^"]+)"/g)].map(([, name = '']) => name);
  expect([...new Set(named)].filter((name) => !Object.hasOwn(document.definitions, name))).toEqual([]);
});

test('a reference stands for itself, without a default', () => {
  const pod = document.definitions['io.k8s.api.core.v1.Pod'];
  expect(pod?.properties?.['spec']).toEqual({
    description: expect.any(String),
    $ref: '#/definitions/io.k8s.api.core.v1.PodSpec',
  });
});

test('quantities and ports are texts', () => {
  expect(document.definitions['io.k8s.apimachinery.pkg.api.resource.Quantity']?.type).toBe('string');
  expect(document.definitions['io.k8s.apimachinery.pkg.util.intstr.IntOrString']?.type).toBe('string');
});

test('a property may be called like a word of the schema', () => {
  const schema = document.definitions['io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps'];
  expect(Object.keys(schema?.properties ?? {})).toEqual(expect.arrayContaining(['allOf', 'default', 'nullable']));
});

/** What the real server publishes for the schema of a custom kind. */
test.each([
  ['a default', { type: 'string', default: 'x' }, { type: 'string' }],
  ['what may be null', { type: 'string', nullable: true, title: 'T' }, { title: 'T' }],
  ['a list that may be null', { type: 'array', nullable: true, items: { type: 'string' } }, {}],
  [
    'a required property that may be null',
    { required: ['a', 'b'], properties: { a: { nullable: true }, b: { type: 'string' } } },
    { required: ['b'], properties: { a: {}, b: { type: 'string' } } },
  ],
  [
    'an object with unknown fields',
    { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { a: { type: 'string' } } },
    { 'x-kubernetes-preserve-unknown-fields': true },
  ],
  ['a list of anything', { type: 'array' }, {}],
  ['no properties', { type: 'object', properties: {} }, { type: 'object' }],
  [
    'a number or a text',
    { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
    { 'x-kubernetes-int-or-string': true },
  ],
  [
    'a choice',
    { type: 'object', oneOf: [{ required: ['a'] }], not: { required: ['b'] }, allOf: [{ required: ['c'] }] },
    { type: 'object' },
  ],
  ['a map', { additionalProperties: { nullable: true, type: 'string' } }, { additionalProperties: {} }],
  ['a map of anything', { additionalProperties: true }, { additionalProperties: true }],
])('%s is published as kubectl understands it', (_, schema, published) => {
  expect(swaggerSchemas({ schema })).toEqual({ schema: published });
});

test('a body is a parameter, and parameters have their type themselves', () => {
  const paths = swaggerPaths({
    '/widgets/{name}': {
      parameters: [{ name: 'name', in: 'path', required: true, schema: { type: 'string' } }],
      patch: {
        operationId: 'patchWidget',
        parameters: [{ name: 'dryRun', in: 'query', schema: { type: 'string' } }],
        requestBody: { content: { 'a/b': { schema: { $ref: '#/components/schemas/Patch' } } } },
        responses: {
          200: { description: 'OK', content: { 'a/b': { schema: { $ref: '#/components/schemas/Widget' } } } },
        },
        'x-kubernetes-action': 'patch',
        'x-kubernetes-group-version-kind': { group: '', version: 'v1', kind: 'Widget' },
      },
    },
  });
  expect(paths).toEqual({
    '/widgets/{name}': {
      parameters: [{ name: 'name', in: 'path', required: true, type: 'string' }],
      patch: {
        operationId: 'patchWidget',
        consumes: ['a/b'],
        parameters: [
          { name: 'body', in: 'body', schema: { $ref: '#/definitions/Patch' } },
          { name: 'dryRun', in: 'query', type: 'string' },
        ],
        responses: { 200: { description: 'OK', schema: { $ref: '#/definitions/Widget' } } },
        'x-kubernetes-action': 'patch',
        'x-kubernetes-group-version-kind': { group: '', version: 'v1', kind: 'Widget' },
      },
    },
  });
});
