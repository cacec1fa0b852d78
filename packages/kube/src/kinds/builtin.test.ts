import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { type Affinity, coreSchema, Deployment, EventsV1Event, Pod } from './builtin.ts';
import { apiVersionOf, type ResourceOf } from './object.ts';

test('a built-in kind is a value that names its place on the wire', () => {
  expect(Pod).toEqual({ group: '', version: 'v1', kind: 'Pod', plural: 'pods', namespaced: true });
  expect(apiVersionOf(Deployment)).toBe('apps/v1');
  expect(apiVersionOf(EventsV1Event)).toBe('events.k8s.io/v1');
});

test('a built-in kind is also the type of its objects', () => {
  const deployment: Deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec: {
      selector: { matchLabels: { app: 'web' } },
      strategy: { type: 'Recreate' },
      template: { spec: { containers: [{ name: 'web', image: 'nginx', ports: [{ containerPort: 80 }] }] } },
    },
  };
  const same: ResourceOf<typeof Deployment> = deployment;
  expect(same.spec?.template.spec?.containers.map(({ name }) => name)).toEqual(['web']);
});

test("a core type's schema fits into a kind's own schema with its type", () => {
  const schema = Type.Unsafe<Affinity>(coreSchema('Affinity'));
  expect(Object.keys(coreSchema('Affinity').properties ?? {})).toEqual([
    'nodeAffinity',
    'podAffinity',
    'podAntiAffinity',
  ]);
  const affinity: Type.Static<typeof schema> = { podAntiAffinity: {} };
  expect(affinity).toEqual({ podAntiAffinity: {} });
});

test('a schema for a CRD has no references, no descriptions and a default for each optional key of a list', () => {
  const text = JSON.stringify(coreSchema('PodTemplateSpec'));
  expect(text).not.toMatch(/"\$ref"|"description":"|x-kubernetes-patch|"allOf"/);
  const ports = coreSchema('Container').properties?.['ports'];
  expect(ports?.['x-kubernetes-list-map-keys']).toEqual(['containerPort', 'protocol']);
  expect(ports?.items?.properties?.['protocol']?.default).toBe('TCP');
  expect(coreSchema('EnvVar').properties?.['name']?.default).toBeUndefined();
  expect(coreSchema('ResourceRequirements').properties?.['limits']?.additionalProperties).toMatchObject({
    'x-kubernetes-int-or-string': true,
  });
});
