import { crdSchema } from '@polder/engine/spec';
import {
  type Affinity,
  core,
  defineKind,
  type LocalObjectReference,
  listMap,
  type ResourceOf,
  type ResourceRequirements,
  statusOf,
  type Toleration,
  type ValidationRule,
  withRules,
} from '@polder/kube';
import { Type } from 'typebox';

/**
 * A spec as users give it: in either shape of its blocks, and perhaps invalid. What it means is for the engine to say; only
 * what is handed on to Kubernetes as it is has a type here.
 */
export interface GivenSpec {
  readonly [field: string]: unknown;
  readonly resources?: ResourceRequirements;
  readonly affinity?: Affinity;
  readonly tolerations?: readonly Toleration[];
  readonly imagePullSecrets?: readonly LocalObjectReference[];
}

/** The name becomes the value of a label on the pods. */
export const LONGEST_NAME = 63;

/** What holds between fields that lie side by side; all else is for the schema, or for the engine. */
const RULES: readonly ValidationRule[] = [
  {
    rule: "!has(self.replicas) || self.replicas <= 1 || self.source.type == 'kafka'",
    message: 'may be more than 1 only if the source is kafka: each would read all of the source',
    reason: 'FieldValueInvalid',
    fieldPath: '.replicas',
  },
  {
    rule: `!has(self.maintenance)
      || (has(self.maintenance.startTime) && self.maintenance.startTime != '')
        == (has(self.maintenance.duration) && self.maintenance.duration != '')`.replaceAll(/\s+/g, ' '),
    message: 'startTime and duration are given together',
    reason: 'FieldValueInvalid',
    fieldPath: '.maintenance',
  },
];

const { properties, ...schema } = crdSchema();

const spec = withRules(
  Type.Unsafe<GivenSpec>({
    ...schema,
    properties: {
      ...properties,
      // What the engine leaves to Kubernetes has the schemas of Kubernetes: refused here, it is refused before it is stored.
      resources: core('ResourceRequirements', described('resources')),
      affinity: core('Affinity', described('affinity')),
      tolerations: Type.Array(core('Toleration'), described('tolerations')),
      imagePullSecrets: Type.Array(core('LocalObjectReference'), described('imagePullSecrets')),
    },
  }),
  RULES,
);

function described(field: string): { readonly description?: string } {
  const description = properties?.[field]?.['description'];
  return typeof description === 'string' ? { description } : {};
}

const time = (description: string) => Type.Optional(Type.String({ format: 'date-time', description }));
const count = (description: string) => Type.Integer({ format: 'int64', minimum: 0, description });

const status = statusOf({
  phase: Type.Optional(
    Type.Union([Type.Literal('Pending'), Type.Literal('Running'), Type.Literal('Error'), Type.Literal('Stopped')], {
      description: 'How the flow is doing, in one word.',
    }),
  ),
  message: Type.Optional(Type.String({ description: 'Why it is in this phase.' })),
  processedCount: Type.Optional(count('How many messages were written where they should be, since the flow was made.')),
  errorCount: Type.Optional(count('How many messages could not be processed.')),
  lastProcessedTime: time('When the last of them was seen to be written.'),
  countedTime: time('When the counts were last brought up to date.'),
  processors: Type.Optional(
    listMap(
      Type.Object({
        uid: Type.String({ description: 'The uid of its pod.' }),
        pod: Type.String(),
        started: Type.String({ description: 'When this run of it started, in its own words.' }),
        processed: count('What it said that it has processed.'),
        errors: count('What it said that it could not process.'),
      }),
      ['uid', 'started'],
      { description: 'What the counts contain of each run of a processor: who starts again counts from 0 again.' },
    ),
  ),
  maintenanceStatus: Type.Optional(
    Type.Object(
      {
        inMaintenance: Type.Boolean({ description: 'A window is open now.' }),
        suspended: Type.Boolean({ description: 'Somebody stopped the processor.' }),
        nextMaintenanceTime: time('When the next window begins.'),
        lastMaintenanceTime: time('When the last window, or the one that is open, began.'),
      },
      { description: 'What spec.maintenance means at this moment.' },
    ),
  ),
});

export const DataFlow = defineKind({
  group: 'dataflow.dataflow.io',
  version: 'v1',
  kind: 'DataFlow',
  plural: 'dataflows',
  shortNames: ['df'],
  description: 'Reads messages from a source, transforms them and writes them to a sink, for as long as it exists.',
  spec,
  status,
  columns: [
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'Source', type: 'string', jsonPath: '.spec.source.type' },
    { name: 'Sink', type: 'string', jsonPath: '.spec.sink.type' },
    { name: 'Processed', type: 'integer', jsonPath: '.status.processedCount' },
    { name: 'Errors', type: 'integer', jsonPath: '.status.errorCount' },
    { name: 'Message', type: 'string', jsonPath: '.status.message', priority: 1 },
  ],
  rules: [
    {
      rule: `size(self.metadata.name) <= ${LONGEST_NAME}`,
      message: `the name must have at most ${LONGEST_NAME} characters: it is the value of a label on its pods`,
    },
  ],
});
export type DataFlow = ResourceOf<typeof DataFlow>;
