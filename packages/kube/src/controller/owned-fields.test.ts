import { expect, test } from 'vitest';
import type { KubernetesObject } from '../kinds/index.ts';
import { LastApplied } from './applied.ts';

const metadata = { name: 'a', namespace: 'ns', labels: { app: 'a' } };
const desired = (image: string, cpu = '1') => ({
  apiVersion: 'v1',
  kind: 'Thing',
  metadata,
  spec: {
    cpu,
    containers: [{ name: 'x', image, ports: [{ containerPort: 1 }], args: ['a', 'b'] }],
    rules: [{ port: 1 }],
  },
});

/** As the server records it, and prints it. */
const fieldsV1 = {
  'f:metadata': { 'f:labels': { 'f:app': {} }, 'f:ownerReferences': { 'k:{"uid":"o"}': {} } },
  'f:spec': {
    'f:cpu': {},
    'f:containers': {
      'k:{"name":"x"}': {
        '.': {},
        'f:name': {},
        'f:image': {},
        'f:ports': { 'k:{"containerPort":1,"protocol":"TCP"}': { '.': {}, 'f:containerPort': {} } },
        'f:args': {},
      },
    },
    'f:rules': {},
  },
};
const [item, port] = [
  { name: 'x', image: 'i:1', pullPolicy: 'Always', args: ['a', 'b'] },
  { containerPort: 1, protocol: 'TCP' },
];
const spec = { cpu: '1', containers: [{ ...item, ports: [port] }], rules: [{ port: 1 }], replicas: 1 };

const stored = (over: object = {}, fields: Readonly<Record<string, unknown>> = fieldsV1): KubernetesObject => {
  const entry = { manager: 'us', operation: 'Apply', apiVersion: 'v1', fieldsV1: fields } as const;
  const head = { ...metadata, uid: 'u', resourceVersion: '2', managedFields: [entry] };
  const thing = { apiVersion: 'v1', kind: 'Thing', metadata: head, spec: { ...spec, ...over } };
  return thing;
};
const owning = (over: object) => ({ ...fieldsV1, 'f:spec': { ...fieldsV1['f:spec'], ...over } });
const { 'f:rules': _, ...withoutRules } = fieldsV1['f:spec'];

test.each<[string, KubernetesObject, boolean]>([
  ['is as we applied it', stored(), true],
  ['has a field of somebody else', stored({ replicas: 7 }), true],
  ['has another value in one of our fields', stored({ cpu: '2' }), false],
  ['has one of our fields no more', stored({ cpu: undefined }), false],
  ['has an item more in a list of ours', stored({ rules: [{ port: 1 }, { port: 2 }] }), false],
  [
    'has a list of ours that somebody else added a field to',
    stored({ rules: [{ port: 1, from: 'all' }] }, { ...fieldsV1, 'f:spec': withoutRules }),
    false,
  ],
  ['has a field that we applied once and want no more', stored({}, owning({ 'f:old': {} })), false],
  ['has an item that we applied once and want no more', stored({}, owning({ 'f:args': { 'v:"c"': {} } })), false],
  ['was applied by somebody else', { ...stored(), metadata: { ...stored().metadata, managedFields: [] } }, false],
])('a process that knows nothing finds that an object %s: in place is %s', (_what, live, isInPlace) => {
  const wish = desired('i:1');
  expect(new LastApplied('us').isInPlace({ ...wish, metadata: { ...metadata } }, live)).toBe(isInPlace);
  expect(new LastApplied('us').isInPlace(desired('i:2'), live)).toBe(false);
  expect(new LastApplied('them').isInPlace(wish, live)).toBe(false);
});
