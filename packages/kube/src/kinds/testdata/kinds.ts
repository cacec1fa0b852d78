/** Kinds that use every feature there is; the unit suites and the one against a real API server share them. */
import { Type } from 'typebox';
import {
  anything,
  atomicList,
  core,
  defineKind,
  intOrString,
  listMap,
  listSet,
  type ResourceOf,
  secret,
  statusOf,
  withRules,
  withUnknownFields,
} from '../index.ts';

const Topic = Type.String({ pattern: '^[a-z][a-z0-9.-]*$', maxLength: 249 });
const BatchSize = Type.Optional(Type.Integer({ format: 'int32', minimum: 1, maximum: 10_000 }));

const Sink = Type.Union([
  withRules(
    Type.Object({
      type: Type.Literal('kafka'),
      topic: Topic,
      partitions: Type.Optional(Type.Integer()),
      batchSize: BatchSize,
    }),
    [{ rule: "!has(self.partitions) || self.topic != 'single'", message: 'the topic single has no partitions' }],
  ),
  Type.Object({ type: Type.Literal('postgres'), table: Type.String({ maxLength: 63 }), batchSize: BatchSize }),
  Type.Object({
    type: Type.Literal('none'),
    'dry-run': Type.Optional(Type.Boolean()),
    namespace: Type.Optional(Topic),
    while: Type.Optional(Type.Boolean()),
  }),
]);

export const Pipeline = defineKind({
  group: 'kinds.polder.dev',
  version: 'v1',
  kind: 'Pipeline',
  plural: 'pipelines',
  shortNames: ['pl'],
  categories: ['polder'],
  description: 'Moves messages from a topic into a sink.',
  spec: withRules(
    Type.Object(
      {
        image: Type.String({ minLength: 1, maxLength: 255, description: 'What the workers run.' }),
        delivery: Type.Union([Type.Literal('at-least-once'), Type.Literal('exactly-once')], {
          default: 'at-least-once',
        }),
        replicas: Type.Integer({ format: 'int32', minimum: 0, maximum: 100, default: 1 }),
        maxReplicas: Type.Optional(Type.Integer({ exclusiveMinimum: 0 })),
        ratio: Type.Optional(Type.Number({ minimum: 0, exclusiveMaximum: 1 })),
        topics: listSet(Topic, { minItems: 1, maxItems: 8 }),
        sinks: Type.Optional(atomicList(Sink, { maxItems: 4 })),
        sink: Sink,
        env: Type.Optional(listMap(core('EnvVar'), ['name'])),
        labels: Type.Optional(Type.Record(Type.String(), Type.String({ maxLength: 63 }), { maxProperties: 8 })),
        surge: Type.Optional(intOrString({ default: '25%' })),
        either: Type.Optional(Type.Union([Type.Integer(), Type.String()])),
        note: Type.Optional(Type.Union([Type.String(), Type.Null()])),
        settings: Type.Optional(anything<{ readonly deep?: unknown }>()),
        open: Type.Optional(withUnknownFields(Type.Object({ known: Type.Boolean() }))),
        login: Type.Optional(secret(Type.String({ minLength: 8 }))),
        since: Type.Optional(Type.String({ format: 'date-time' })),
        affinity: Type.Optional(core('Affinity', { description: 'Where the workers run.' })),
        resources: Type.Optional(core('ResourceRequirements')),
        template: Type.Optional(core('PodTemplateSpec')),
        joined: Type.Optional(
          Type.Intersect([
            Type.Object({ left: Type.Boolean() }),
            Type.Object({ right: Type.Optional(Type.Boolean()) }),
          ]),
        ),
      },
      { additionalProperties: false },
    ),
    [
      {
        rule: '!has(self.maxReplicas) || self.replicas <= self.maxReplicas',
        message: 'replicas may not exceed maxReplicas',
      },
    ],
  ),
  status: statusOf({ replicas: Type.Optional(Type.Integer()), selector: Type.Optional(Type.String()) }),
  columns: [{ name: 'Replicas', type: 'integer', jsonPath: '.status.replicas' }],
  scale: {
    specReplicasPath: '.spec.replicas',
    statusReplicasPath: '.status.replicas',
    labelSelectorPath: '.status.selector',
  },
  selectableFields: ['.spec.delivery'],
  rules: [{ rule: 'self.metadata.name.size() <= 40', message: 'the name may have 40 characters' }],
});
export type Pipeline = ResourceOf<typeof Pipeline>;

export const ClusterThing = defineKind({
  group: 'kinds.polder.dev',
  version: 'v1',
  kind: 'ClusterThing',
  plural: 'clusterthings',
  namespaced: false,
  spec: Type.Object({ size: Type.Enum(['small', 'large']), level: Type.Union([Type.Literal(1), Type.Literal(2)]) }),
  status: statusOf({}),
});

/** The same kind as it was before. */
export const OldClusterThing = defineKind({
  ...ClusterThing,
  version: 'v1beta1',
  spec: Type.Object({ size: Type.String() }),
  status: statusOf({}),
});

/** The core types that products have in their specs. */
export const Everything = defineKind({
  ...ClusterThing,
  kind: 'Everything',
  plural: 'everythings',
  singular: 'everything',
  spec: Type.Object({
    affinity: core('Affinity'),
    configMapKeySelector: core('ConfigMapKeySelector'),
    container: core('Container'),
    envFromSource: core('EnvFromSource'),
    labelSelector: core('LabelSelector'),
    lifecycle: core('Lifecycle'),
    persistentVolumeClaimSpec: core('PersistentVolumeClaimSpec'),
    podDnsConfig: core('PodDNSConfig'),
    podSecurityContext: core('PodSecurityContext'),
    podTemplateSpec: core('PodTemplateSpec'),
    probe: core('Probe'),
    resourceRequirements: core('ResourceRequirements'),
    serviceSpec: core('ServiceSpec'),
    toleration: core('Toleration'),
    topologySpreadConstraint: core('TopologySpreadConstraint'),
    volume: core('Volume'),
  }),
  status: statusOf({}),
});

export const kindWith = (spec: object) =>
  defineKind({ group: 'g.example.com', version: 'v1', kind: 'K', plural: 'ks', spec, status: Type.Object({}) });

export function aPipeline(spec: object = {}): Record<string, unknown> {
  return {
    apiVersion: 'kinds.polder.dev/v1',
    kind: 'Pipeline',
    metadata: { name: 'p', namespace: 'default' },
    spec: { image: 'w:1', topics: ['a'], sink: { type: 'kafka', topic: 'b' }, ...spec },
  };
}
