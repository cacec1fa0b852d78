import { expect, test } from 'vitest';
import { BUILTIN_KINDS } from '../builtin/index.ts';
import { Schema } from '../schema/schema.ts';
import type { ServedKind } from '../served-kind.ts';
import {
  acceptsAggregated,
  aggregated,
  compareVersions,
  coreVersions,
  etagOf,
  group,
  groupList,
  resourceList,
} from './index.ts';

const widget = (version: string, scale = true): ServedKind => ({
  group: 'shop.example.com',
  version,
  kind: 'Widget',
  listKind: 'WidgetList',
  plural: 'widgets',
  singular: 'widget',
  shortNames: ['wg'],
  categories: ['all'],
  namespaced: true,
  verbs: ['get', 'list'],
  schema: new Schema({ type: 'object' }),
  subresources: {
    status: true,
    ...(scale && { scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } }),
  },
  columns: [],
  origin: 'custom',
});

const kinds = [widget('v1beta1', false), ...BUILTIN_KINDS, widget('v1')];

test('versions are ordered as Kubernetes orders them', () => {
  const versions = ['foo1', 'v1alpha1', 'v2', 'v1beta2', 'v10', 'v1', 'v1beta10', 'bar'];
  expect(versions.toSorted(compareVersions)).toEqual([
    'v10',
    'v2',
    'v1',
    'v1beta10',
    'v1beta2',
    'v1alpha1',
    'bar',
    'foo1',
  ]);
});

test("a group's best version is the preferred one", () => {
  expect(group(kinds, 'shop.example.com')).toEqual({
    kind: 'APIGroup',
    apiVersion: 'v1',
    name: 'shop.example.com',
    versions: [
      { groupVersion: 'shop.example.com/v1', version: 'v1' },
      { groupVersion: 'shop.example.com/v1beta1', version: 'v1beta1' },
    ],
    preferredVersion: { groupVersion: 'shop.example.com/v1', version: 'v1' },
  });
  expect(group(kinds, 'gone.example.com')).toBeUndefined();
  expect(resourceList(kinds, 'shop.example.com', 'v2')).toBeUndefined();
});

test('the core group is announced apart, and custom groups after the built-in ones', () => {
  expect(coreVersions(kinds, '127.0.0.1:6443')).toMatchObject({ kind: 'APIVersions', versions: ['v1'] });
  const { groups } = groupList(kinds);
  expect(groups).toEqual(expect.not.arrayContaining([expect.objectContaining({ name: '' })]));
  expect(Array.isArray(groups) && groups.at(-1)).toMatchObject({ name: 'shop.example.com' });
});

test("a custom kind's subresources are listed beside it", () => {
  expect(resourceList(kinds, 'shop.example.com', 'v1')).toMatchObject({
    resources: [
      { name: 'widgets', singularName: 'widget', kind: 'Widget', shortNames: ['wg'] },
      { name: 'widgets/status', kind: 'Widget', verbs: ['get', 'patch', 'update'] },
      { name: 'widgets/scale', group: 'autoscaling', version: 'v1', kind: 'Scale' },
    ],
  });
});

test('the aggregated form says everything at once, in two documents', () => {
  const core = aggregated(kinds, '/api');
  expect(core['items']).toMatchObject([{ metadata: {}, versions: [{ version: 'v1', freshness: 'Current' }] }]);
  expect(JSON.stringify(core)).toContain(
    '"subresource":"eviction","responseKind":{"group":"policy","version":"v1","kind":"Eviction"}',
  );
  expect(JSON.stringify(aggregated(kinds, '/apis'))).toContain(
    '{"resource":"widgets","responseKind":{"group":"shop.example.com","version":"v1","kind":"Widget"}',
  );
});

test('the etag changes when a kind comes or goes, and only then', () => {
  expect(etagOf(aggregated(kinds, '/apis'))).toBe(etagOf(aggregated([...kinds], '/apis')));
  expect(etagOf(aggregated(kinds, '/apis'))).not.toBe(etagOf(aggregated(BUILTIN_KINDS, '/apis')));
});

test.each([
  [undefined, false],
  ['application/json', false],
  ['application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json', true],
  ['application/json;as=APIGroupDiscoveryList;v=v2;g=apidiscovery.k8s.io', true],
  ['application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json', false],
  ['application/json,application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList', false],
])('a client that accepts %s gets the aggregated form: %s', (accept, wanted) => {
  expect(acceptsAggregated(accept)).toBe(wanted);
});
