import type { JsonSchema } from '@polder/kube';
import { expect, test } from 'vitest';
import type { Api, ApiKind } from './api.ts';
import { definitionFiles } from './documents.ts';
import { builtinKinds } from './kinds.ts';
import { structural } from './structural.ts';
import { coreTypes, firstSentence } from './types.ts';

const kind = (definition: string, group: string): ApiKind => ({
  group,
  version: 'v1',
  kind: 'Event',
  plural: 'events',
  singular: 'event',
  shortNames: [],
  categories: [],
  namespaced: true,
  verbs: ['get'],
  subresources: [],
  definition,
});

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';
const INT_OR_STRING = 'io.k8s.apimachinery.pkg.util.intstr.IntOrString';
const ref = (name: string): JsonSchema => ({ allOf: [{ $ref: `#/components/schemas/${name}` }] });

const event = (group: string): JsonSchema => ({
  description: 'Event is a report. It is kept for an hour.',
  type: 'object',
  required: ['type'],
  properties: {
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    metadata: ref(META),
    type: { type: 'string', enum: ['Normal', 'Warning'] },
    ports: {
      type: 'array',
      items: { default: {}, ...ref('io.k8s.api.core.v1.Port') },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['port', 'protocol'],
      'x-kubernetes-patch-merge-key': 'port',
    },
  },
  'x-kubernetes-group-version-kind': [{ group, version: 'v1', kind: 'Event' }],
});

const api: Api = {
  version: 'v1.0.0',
  kinds: [kind('io.k8s.api.core.v1.Event', ''), kind('io.k8s.api.events.v1.Event', 'events.k8s.io')],
  definitions: new Map<string, JsonSchema>([
    ['io.k8s.api.core.v1.Event', event('')],
    ['io.k8s.api.events.v1.Event', event('events.k8s.io')],
    [
      'io.k8s.api.core.v1.Port',
      {
        type: 'object',
        required: ['port'],
        properties: {
          port: { type: 'integer', default: 0 },
          protocol: { type: 'string', default: '' },
          target: { description: 'Where to.', ...ref(INT_OR_STRING) },
        },
      },
    ],
    [META, { type: 'object', properties: { name: { type: 'string' } } }],
    [INT_OR_STRING, { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] }],
  ]),
};

test('types are readonly, with literal kinds and unions for enums', () => {
  expect(coreTypes(api)).toContain(
    [
      '/** Event is a report. */',
      'export interface Event extends KubernetesObject {',
      "  readonly apiVersion: 'v1';",
      "  readonly kind: 'Event';",
      "  readonly type: 'Normal' | 'Warning';",
      '  readonly ports?: readonly Port[];',
      '}',
    ].join('\n'),
  );
});

test('of two types with the same name, the later group carries its own in front', () => {
  expect(coreTypes(api)).toContain('export interface EventsV1Event extends KubernetesObject');
  expect(builtinKinds(api)).toContain(
    "export const EventsV1Event: Kind<core.EventsV1Event> = { group: 'events.k8s.io', version: 'v1', kind: 'Event', plural: 'events', namespaced: true };",
  );
});

test('a schema for a CRD is whole, without zero defaults except where a key of a list needs one', () => {
  const { properties } = structural('io.k8s.api.core.v1.Event', api.definitions);
  expect(properties?.['ports']).toEqual({
    type: 'array',
    items: {
      type: 'object',
      required: ['port'],
      properties: {
        port: { type: 'integer' },
        protocol: { type: 'string', default: '' },
        target: { anyOf: [{ type: 'integer' }, { type: 'string' }], 'x-kubernetes-int-or-string': true },
      },
    },
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['port', 'protocol'],
  });
});

test('definitions are stored one to a line, a file per package', () => {
  const files = definitionFiles(api);
  expect(files.get('io.k8s.api.events.v1.json')?.split('\n')).toHaveLength(4);
  expect(files.get('io.k8s.api.core.v1.json')?.split('\n')).toHaveLength(5);
});

test.each([
  ['One. Two.', 'One.'],
  ['e.g. this. That.', 'e.g. this.'],
  ['No end', 'No end'],
  ['Scheme to use.\n\nPossible enum values:\n - `"HTTP"`', 'Scheme to use.'],
  ['Version 1.5 of it. More.', 'Version 1.5 of it.'],
])('the first sentence of %j is %j', (text, sentence) => {
  expect(firstSentence(text)).toBe(sentence);
});
