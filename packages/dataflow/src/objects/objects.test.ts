import { describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { aFlow, aSecret, kafkaSpec, NOW, observed, polledSpec, secretsOf, settings } from '../../test/states.ts';
import type { GivenSpec } from '../kinds/index.ts';
import type { Observed } from '../observe.ts';
import { planFlow } from '../plan/index.ts';
import type { Settings } from '../settings.ts';

function objectsOf(spec: GivenSpec, more: Partial<Settings> = {}, seen: Partial<Observed> = {}) {
  return planFlow(aFlow(spec), observed(seen), NOW, { ...settings, ...more }).objects;
}

const yaml = (objects: readonly unknown[]) => objects.map((object) => `---\n${stringify(object)}`).join('');

describe('what is made for a flow', () => {
  test('that polls a database, with secrets', async () => {
    await expect(yaml(objectsOf(polledSpec()))).toMatchFileSnapshot('golden/polled.yaml');
  });

  test('that shares a topic among three processors, with all that a user can say of pods', async () => {
    const spec = kafkaSpec({
      replicas: 3,
      resources: { requests: { cpu: '2' }, limits: { memory: '4Gi' } },
      nodeSelector: { disk: 'ssd' },
      affinity: { nodeAffinity: {} },
      tolerations: [{ key: 'dedicated', operator: 'Exists' }],
      imagePullSecrets: [{ name: 'registry' }],
      processorImage: 'registry.example.com:5000/polder',
      processorVersion: '2.0',
      terminationGracePeriodSeconds: 60,
    });
    const options = { processorLogLevel: 'debug', progressTimeoutSeconds: 60 };
    await expect(yaml(objectsOf(spec, options))).toMatchFileSnapshot('golden/replicated.yaml');
  });

  test('with secrets in the ConfigMap, if that is wanted', async () => {
    await expect(yaml(objectsOf(polledSpec(), { inlineSecrets: true }))).toMatchFileSnapshot('golden/inline.yaml');
  });
});

test('no value of a Secret is in anything but the Secret', () => {
  const others = objectsOf(polledSpec()).filter(({ kind }) => kind !== 'Secret');
  expect(JSON.stringify(others)).not.toContain('hunter2');
  expect(JSON.stringify(others)).not.toContain(Buffer.from('hunter2').toString('base64'));
});

test('what has no value in it beyond the spec needs no Secret, no account and no disruption budget', () => {
  expect(objectsOf(kafkaSpec()).map(({ kind }) => kind)).toEqual(['ConfigMap', 'Deployment']);
  expect(objectsOf(polledSpec({ checkpointPersistence: false })).map(({ kind }) => kind)).toEqual([
    'ConfigMap',
    'Secret',
    'Deployment',
  ]);
});

describe('processors start again', () => {
  const templateOf = (spec: GivenSpec, seen: Partial<Observed> = {}) =>
    objectsOf(spec, {}, seen)
      .filter(({ kind }) => kind === 'Deployment')
      .map((object) => ('spec' in object ? JSON.stringify(object.spec, omitReplicas) : ''))[0];
  const omitReplicas = (key: string, value: unknown) => (key === 'replicas' ? undefined : value);
  const before = templateOf(polledSpec());
  const rotated = secretsOf(aSecret('database', { url: 'postgres://db' }));

  test.each<[string, string | undefined]>([
    ['a transformation is added', templateOf(polledSpec({ transformations: [{ type: 'snakeCase', config: {} }] }))],
    ['the value of a Secret changes', templateOf(polledSpec(), { secrets: rotated })],
    ['the image changes', templateOf(polledSpec(), { image: { known: true, value: 'polder:2' } })],
    ['they get more memory', templateOf(polledSpec({ resources: { limits: { memory: '1Gi' } } }))],
  ])('if %s', (_what, after) => {
    expect(after).toBeDefined();
    expect(after).not.toBe(before);
  });

  test.each<[string, GivenSpec, GivenSpec]>([
    ['there are to be more of them', kafkaSpec(), kafkaSpec({ replicas: 5 })],
    ['a window is planned', polledSpec(), polledSpec({ maintenance: { description: 'soon' } })],
    ['the flow is suspended', polledSpec(), polledSpec({ maintenance: { suspended: true } })],
    [
      'the spec says the same in another order',
      polledSpec(),
      Object.fromEntries(Object.entries(polledSpec()).toReversed()),
    ],
  ])('but not if %s', (_what, one, other) => {
    expect(templateOf(other)).toBe(templateOf(one));
  });
});
