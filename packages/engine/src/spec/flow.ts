/** The spec of a flow as a whole. Fields are declared in the order in which their errors are told. */
import { type Static, type TObject, Type } from 'typebox';
import { errorSink, sink, source } from './connectors/index.ts';
import { type Finding, forbid, need, refuse, repeated, warn, when } from './finding.ts';
import { type Given, type Immutable, INT32, mapOf, ofKubernetes, oneOf, withRule } from './schema.ts';
import { transformation } from './transformations/index.ts';

const quantity = Type.Unsafe<string | number>({ 'x-kubernetes-int-or-string': true, format: 'quantity' });

const maintenance = withRule(
  Type.Object(
    {
      startTime: Type.Optional(
        Type.String({ format: 'date-time', description: 'When the first window begins: 2026-01-31T02:00:00Z.' }),
      ),
      duration: Type.Optional(Type.String({ format: 'duration', description: 'How long a window is: 2h, 30m.' })),
      repeat: Type.Optional(
        oneOf(['daily', 'weekly', 'monthly'], { description: 'How often the window comes again. Without it: never.' }),
      ),
      timezone: Type.String({
        format: 'time-zone',
        default: 'UTC',
        description: 'The zone whose days and months count: Europe/Berlin.',
      }),
      description: Type.Optional(Type.String({ description: 'What the window is for.' })),
      suspended: Type.Boolean({ default: false, description: 'Stop the processor until this is false again.' }),
    },
    { description: 'When the processor does not run.' },
  ),
  (given, has) => [
    ...when(has('startTime') && !has('duration'), need('duration', 'startTime and duration are given together')),
    ...when(has('duration') && !has('startTime'), need('startTime', 'startTime and duration are given together')),
    ...when(
      given.repeat !== undefined && !has('startTime') && !has('duration'),
      need('startTime', 'repeat needs startTime and duration'),
    ),
  ],
);

const fields = {
  source,
  sink,
  errors: Type.Optional(errorSink),
  transformations: Type.Array(transformation, {
    default: [],
    maxItems: 100,
    description: 'What is done with each message on its way, in this order.',
  }),
  resources: Type.Object(
    {
      limits: Type.Optional(mapOf(quantity, { description: 'The most it may use.' })),
      requests: Type.Optional(mapOf(quantity, { description: 'What is kept free for it.' })),
      claims: Type.Optional(Type.Array(ofKubernetes(), { description: 'Devices, by resource claims.' })),
    },
    {
      default: { limits: { cpu: '500m', memory: '512Mi' }, requests: { cpu: '100m', memory: '128Mi' } },
      description: 'CPU and memory of the processor.',
    },
  ),
  nodeSelector: Type.Optional(
    mapOf(Type.Unsafe<string>({ type: 'string' }), { description: 'Labels of the nodes it may run on.' }),
  ),
  affinity: Type.Optional(ofKubernetes({ description: 'Which nodes it prefers, and the company of which pods.' })),
  tolerations: Type.Optional(Type.Array(ofKubernetes(), { description: 'Taints of nodes that it does not mind.' })),
  replicas: Type.Integer({
    default: 1,
    minimum: 0,
    ...INT32,
    description: 'How many processors. More than one only if the source is kafka: they share the partitions.',
  }),
  processorImage: Type.Optional(
    Type.String({ description: 'The image of the processor, if not that of the operator.' }),
  ),
  processorVersion: Type.Optional(Type.String({ description: 'The tag of that image.' })),
  imagePullSecrets: Type.Optional(
    Type.Array(ofKubernetes(), { description: 'Secrets with which the image is pulled.' }),
  ),
  terminationGracePeriodSeconds: Type.Integer({
    default: 600,
    minimum: 1,
    ...INT32,
    description: 'How long the processor may take to write what it has read when it is stopped, in seconds.',
  }),
  channelBufferSize: Type.Integer({
    default: 100,
    minimum: 1,
    ...INT32,
    description: 'How many messages may wait between reading, transforming and writing.',
  }),
  ackGranularity: oneOf(['batch', 'message'], {
    default: 'batch',
    description: 'message: write messages one by one and commit after each.',
  }),
  checkpointPersistence: Type.Boolean({
    default: true,
    description: 'Remember beyond a restart how far a source that is polled was read.',
  }),
  checkpointSyncOnAck: Type.Boolean({
    default: false,
    description: 'Save that after each batch that was written, but not more often than checkpointSaveInterval.',
  }),
  checkpointSaveInterval: Type.String({
    format: 'duration',
    default: '30s',
    description: 'How often that is saved: 30s, 1m30s.',
  }),
  checkpointReset: Type.Boolean({
    default: false,
    description: 'Forget that once and read from the beginning; the operator sets it back.',
  }),
  strictIdempotency: Type.Boolean({
    default: false,
    description: 'Refuse, instead of warning of, a source that is polled with a sink without upsertMode.',
  }),
  maintenance: Type.Optional(maintenance),
};

type Flow = Static<TObject<typeof fields>>;

export const flow = withRule(
  Type.Object(fields, { description: 'A flow of messages from a source through transformations to a sink.' }),
  flowFindings,
);

/** A spec in its one shape, with every default: what the processor works with. */
export type FlowSpec = Immutable<Flow>;

/** What holds between blocks. */
function flowFindings({ source: from, sink: to, ...given }: Given<Flow>): readonly Finding[] {
  const type = from?.type;
  const isPolled = type !== undefined && type !== 'kafka';
  const isRepeatable = to?.type === 'postgresql' || to?.type === 'trino' ? to.config?.upsertMode === true : false;
  const isTwice = isPolled && to?.type !== undefined && !isRepeatable;
  const twice = `what is read of ${type} again after a restart is written again`;
  return [
    ...when(
      isPolled && (given.replicas ?? 1) > 1,
      refuse('replicas', `may be more than 1 only if the source is kafka: each would read all of ${type}`),
    ),
    ...when(
      isTwice,
      given.strictIdempotency === true
        ? forbid('sink', `strictIdempotency: ${twice}; use a sink with upsertMode`)
        : warn('sink', `without upsertMode ${twice}`),
    ),
    ...when(
      isPolled && given.checkpointPersistence === false,
      warn('checkpointPersistence', `is false: after a restart ${type} is read from the beginning`),
    ),
    ...sharedConditions(given.transformations ?? []).map((condition) =>
      repeated(
        'transformations',
        `two routers have a route with the condition ${JSON.stringify(condition)}: messages find their sink by it`,
      ),
    ),
  ];
}

/** Of several routers. Within one, its own declaration looks. */
function sharedConditions(transformations: NonNullable<Given<Flow>['transformations']>): readonly string[] {
  const routers = transformations.map((one) => (one.type === 'router' ? (one.config?.routes ?? []) : []));
  const conditions = routers.flatMap((routes) => [...new Set(routes.map(({ condition = '' }) => condition))]);
  return [...new Set(conditions.filter((condition, at) => conditions.indexOf(condition) < at))];
}
