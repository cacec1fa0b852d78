import type { Secret, StatefulSet } from '@polder/kube';
import { describe, expect, test } from 'vitest';
import { type Look, look, NOW } from '../../../test/states.ts';
import { DEFAULTS } from '../../settings.ts';
import { apiKeySecret } from '../objects/index.ts';
import { planCluster } from './index.ts';

function plan(given: Look, children: Partial<ReturnType<typeof look>['observed']['children']> = {}) {
  const { cluster, observed } = look(given);
  return planCluster(cluster, { ...observed, children: { ...observed.children, ...children } }, DEFAULTS, NOW);
}

const secret = (key: { value: string; previous?: string }): Secret =>
  apiKeySecret(look().cluster, 'vectors-apikey', key);
const dataOf = (given: Look, apiKey: Secret | undefined) => {
  const found = plan(given, { apiKey }).objects.find(({ kind }) => kind === 'Secret');
  return found && 'data' in found ? found.data : undefined;
};
const encoded = (text: string) => Buffer.from(text).toString('base64');

describe('a spec that can not be is refused, and nothing is made or changed:', () => {
  test.each<[string, Look, string]>([
    ['no image', { spec: { image: ' ' } }, 'spec.image is empty'],
    ['no peers', { spec: { replicas: 0 } }, 'spec.replicas is 0; it must be at least 1'],
    ['a key for readers alone', { spec: { readApikey: 'true' } }, 'only if spec.apikey is enabled'],
    ['a volume that shrinks', { spec: { persistence: { size: '500Mi' } } }, 'can not shrink'],
    ['TLS for some', { spec: { tls: { enabled: true } } }, 'do not reach each other'],
    ['a name too long', { metadata: { name: 'n'.repeat(60) } }, 'at most 52 characters'],
  ])('%s', (_what, given, because) => {
    const { objects, steps, status } = plan(given);
    expect([objects, steps]).toEqual([[], []]);
    expect(status).toMatchObject({ qdrantStatus: 'Error', reason: 'InvalidSpec' });
    expect(status.errorMessage).toContain(because);
  });

  test("an object of somebody else's", () => {
    const config = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'shop', name: 'vectors' } } as const;
    expect(plan({}, { config }).status).toMatchObject({
      reason: 'NameTaken',
      errorMessage: 'ConfigMap shop/vectors belongs to nobody we know; delete it, or give the cluster another name',
    });
  });
});

describe('a key', () => {
  test('is made before anything else, and once', () => {
    const before = plan({ spec: { apikey: 'true' } });
    expect(before.objects).toEqual([]);
    expect(before.steps).toMatchObject([{ do: 'create-key', name: 'vectors-apikey' }]);
    const after = plan({ spec: { apikey: 'true' } }, { apiKey: secret({ value: 'generated' }) });
    expect(after.steps.map((step) => step.do)).not.toContain('create-key');
    expect(after.objects.map(({ kind }) => kind)).not.toContain('Secret');
  });

  test('that changes leaves the one before for peers that have it, until none does', () => {
    const spec = { apikey: 'new' };
    // Of a version that can have but one key.
    const views = { 0: { version: '1.16.3' }, 1: { version: '1.16.3' }, 2: { version: '1.16.3' } };
    const both = { 'api-key': encoded('new'), 'api-key-previous': encoded('old') };
    expect(dataOf({ spec, views }, undefined)).toEqual({ 'api-key': encoded('new') });
    expect(dataOf({ spec, views }, secret({ value: 'old' }))).toEqual(both);
    // The StatefulSet was not applied with the new key yet: that all pods are as it has them means nothing.
    expect(dataOf({ spec, views }, secret({ value: 'new', previous: 'old' }))).toEqual(both);
    const { cluster, observed } = look({ spec, views });
    const { objects } = plan({ spec, views }, { apiKey: secret({ value: 'new' }) });
    const applied = objects.find((object): object is StatefulSet => object.kind === 'StatefulSet');
    const { set: before } = observed.children;
    if (!applied || !before?.status) throw new Error('there is no StatefulSet');
    const rolled = { ...observed.children, set: { ...applied, metadata: before.metadata, status: before.status } };
    const apiKey = secret({ value: 'new', previous: 'old' });
    const done = planCluster(cluster, { ...observed, children: { ...rolled, apiKey } }, DEFAULTS, NOW);
    const kept = done.objects.find(({ kind }) => kind === 'Secret');
    expect(kept && 'data' in kept ? kept.data : undefined).toEqual({ 'api-key': encoded('new') });
  });
});
