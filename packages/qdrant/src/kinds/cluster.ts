import { anything, core, defineKind, listMap, type ResourceOf, secret, statusOf, withRules } from '@polder/kube';
import { Type } from 'typebox';
import { atLeastOne, flag, GROUP, orNull, Size, time, VERSION, word } from './fields.ts';

/** The longest name whose pods still have one that a DNS label can hold: `<name>-headless`, `<name>-<ordinal>`. */
export const LONGEST_NAME = 52;

const key = (what: string) =>
  Type.Optional(secret(Type.String({ default: 'false', maxLength: 1024, description: what })));

const Resources = Type.Object({
  cpu: Type.Optional(Type.String({ pattern: '^(\\d+m|\\d+(\\.\\d{1,3})?)$', maxLength: 32 })),
  memory: Type.Optional(Size('Bytes of memory.')),
});

const Persistence = Type.Object(
  {
    size: Size('How large the volume of a peer is. It can grow, never shrink.'),
    storageClassName: Type.Optional(
      Type.String({ maxLength: 253, description: 'Left out: the default class of the cluster.' }),
    ),
    volumeSnapshotClassName: Type.Optional(Type.String({ maxLength: 253 })),
  },
  { description: 'A volume for each peer. Left out: what a peer stores goes with its pod.' },
);

const VolumeSnapshots = Type.Object({
  enabled: flag(false, 'Take snapshots of the volumes.'),
  snapshotClassName: Type.Optional(Type.String({ maxLength: 253 })),
  schedule: Type.Optional(Type.String({ maxLength: 100 })),
  retentionCount: Type.Optional(Type.Integer({ default: 7, minimum: 1 })),
  createNow: flag(false, 'Take one now.'),
});

const Tls = Type.Object(
  {
    enabled: Type.Boolean({ default: false, description: 'Clients and peers talk over TLS.' }),
    secretName: Type.Optional(
      Type.String({ maxLength: 253, description: 'A Secret with cert.pem, key.pem and cacert.pem.' }),
    ),
  },
  { default: { enabled: false } },
);

const spec = withRules(
  Type.Object({
    replicas: atLeastOne('How many peers there are.'),
    image: Type.String({ description: 'What they run, with its tag: the tag says which upgrades are safe.' }),
    apikey: key("'false': no key; 'true': one is generated, once; anything else is the key."),
    readApikey: key('The same for a key that may only read.'),
    service: Type.Optional(
      word(['ClusterIP', 'NodePort', 'LoadBalancer'], {
        default: 'ClusterIP',
        description: 'The type of the Service.',
      }),
    ),
    config: Type.Optional(
      anything<Readonly<Record<string, unknown>>>({
        type: 'object',
        description: "Qdrant's own configuration, as production.yaml.",
      }),
    ),
    persistence: Type.Optional(Persistence),
    volumeSnapshots: Type.Optional(VolumeSnapshots),
    snapshotsStorage: Type.Optional(
      Type.Object(
        { size: Size('How large it is.'), storageClassName: Type.Optional(Type.String({ maxLength: 253 })) },
        { description: 'A volume of its own for the snapshots of a peer. Left out: they go with its pod.' },
      ),
    ),
    resources: orNull(Type.Object({ limits: Type.Optional(Resources), requests: Type.Optional(Resources) })),
    tls: Type.Optional(Tls),
    sidecarContainers: orNull(Type.Array(core('Container'))),
    additionalVolumes: orNull(Type.Array(core('Volume'))),
    additionalVolumeMounts: orNull(Type.Array(core('VolumeMount'))),
    tolerations: orNull(Type.Array(core('Toleration'))),
    nodeAffinity: orNull(core('NodeAffinity')),
    podAntiAffinity: orNull(core('PodAntiAffinity')),
    topologySpreadConstraints: orNull(Type.Array(core('TopologySpreadConstraint'))),
    nodeSelector: Type.Optional(Type.Record(Type.String(), Type.String())),
    rebalance: Type.Optional(
      Type.Object({
        strategy: Type.Optional(
          word(['by_count', 'by_size', 'disabled'], {
            default: 'by_count',
            description: 'Whether peers that have fewer shards than others, or far fewer points, get some of theirs.',
          }),
        ),
        maxConcurrentTransfers: Type.Optional(
          Type.Integer({ default: 1, minimum: 1, maximum: 16, description: 'How many shards travel at once.' }),
        ),
      }),
    ),
    updateStrategy: Type.Optional(
      Type.Object({
        maxUnavailable: Type.Optional(
          Type.Integer({
            default: 1,
            minimum: 1,
            description:
              'How many peers may restart at once. Never so many that a shard is without a live copy, or the others are no majority.',
          }),
        ),
        allowConcurrentWhenUnreplicated: flag(
          false,
          'Restart all peers at once if no collection has copies: it is unavailable for a moment, and not for several.',
        ),
      }),
    ),
    metrics: Type.Optional(
      Type.Object({
        serviceMonitor: Type.Optional(
          Type.Object({ enabled: flag(false, 'Have the Prometheus operator scrape every peer.') }),
        ),
      }),
    ),
    scaleDown: Type.Optional(
      Type.Object({
        policy: Type.Optional(
          word(['Drain', 'Forbid'], { default: 'Drain', description: 'Whether peers may leave when replicas falls.' }),
        ),
        deletePVC: flag(true, 'Delete the volume of a peer that left. One that is kept can not join again.'),
      }),
    ),
    deletionPolicy: Type.Optional(
      Type.Object({
        pvc: Type.Optional(
          word(['Retain', 'Delete'], { default: 'Retain', description: 'What becomes of the volumes.' }),
        ),
      }),
    ),
    networkPolicy: Type.Optional(
      Type.Object({ enabled: flag(true, 'Let nobody but peers reach the port on which peers talk.') }),
    ),
    podDisruptionBudget: Type.Optional(
      Type.Object({ enabled: flag(true, 'Let nodes be drained of one peer after the other.') }),
    ),
    suspend: flag(false, 'Stop all peers and keep their volumes. Nobody is drained.'),
  }),
  [
    {
      rule: "!has(self.readApikey) || self.readApikey == 'false' || (has(self.apikey) && self.apikey != 'false')",
      message: 'readApikey may be set only if apikey is enabled',
    },
  ],
);

const Peer = Type.Object({
  id: Type.String({ description: 'Larger than what a JSON number is sure to hold.' }),
  pod: Type.String(),
  uri: Type.String(),
  role: Type.Optional(Type.String({ description: 'Leader, Follower, Candidate; none if it did not answer.' })),
  isVoter: Type.Optional(Type.Boolean()),
  volume: Type.Optional(
    Type.String({ description: 'The uid of the volume that it was seen with: with another one, its data is lost.' }),
  ),
});

const Attempt = Type.Object({
  collection: Type.String(),
  shard: Type.Integer(),
  to: Type.String({ description: 'The id of the peer that it goes to.' }),
  attempts: Type.Integer({ minimum: 1 }),
  lastTime: Type.String({ format: 'date-time' }),
});

const text = (description: string) => Type.Optional(Type.String({ description }));

const status = statusOf({
  qdrantStatus: Type.Optional(
    word(['Pending', 'OperationInProgress', 'Healthy', 'Running', 'Error'], {
      description: 'How the cluster is doing, in one word.',
    }),
  ),
  reason: text('Why it is in error, for machines.'),
  errorMessage: text('Why it is in error.'),
  lastAppliedHash: text('Of the fields of the spec that its objects are made from.'),
  readyReplicas: Type.Optional(Type.Integer({ description: 'How many pods are ready.' })),
  version: text('What the peers run, if all run the same.'),
  operation: text('What is being done to the cluster at this moment.'),
  holding: Type.Optional(Type.Array(Type.String(), { description: 'What is not done, and which rule holds it back.' })),
  peers: Type.Optional(listMap(Peer, ['id'], { description: 'The members, as they were last agreed on.' })),
  transfers: Type.Optional(
    listMap(Attempt, ['collection', 'shard', 'to'], {
      description: 'Shards that were sent on their way and have not arrived: they are sent again, less and less often.',
    }),
  ),
  volumeSnapshots: Type.Optional(
    Type.Object(
      {
        schedule: text('By which the next time was found.'),
        nextTime: time('When the next set of snapshots is due.'),
        lastTime: time('When the last one was taken.'),
        lastSet: text('Its label qdrant.operator/snapshot-set.'),
        generation: Type.Optional(Type.Integer({ description: 'Of the spec that last asked for one now.' })),
      },
      { description: 'Snapshots of the volumes.' },
    ),
  ),
  cleanupPhase: Type.Optional(word(['Retrying', 'Completed', 'Failed'])),
  cleanupAttempts: Type.Optional(Type.Integer({ minimum: 0 })),
  cleanupError: text('Why it could not be cleaned up.'),
});

export const QdrantCluster = defineKind({
  group: GROUP,
  version: VERSION,
  kind: 'QdrantCluster',
  plural: 'qdrantclusters',
  description: 'A cluster of Qdrant peers: vector databases that share collections.',
  spec,
  status,
  columns: [
    { name: 'Replicas', type: 'integer', jsonPath: '.spec.replicas' },
    { name: 'Status', type: 'string', jsonPath: '.status.qdrantStatus' },
    { name: 'Version', type: 'string', jsonPath: '.status.version' },
    { name: 'Operation', type: 'string', jsonPath: '.status.operation', priority: 1 },
  ],
  rules: [
    {
      rule: `size(self.metadata.name) <= ${LONGEST_NAME}`,
      message: `the name must have at most ${LONGEST_NAME} characters: it is a part of the names of its pods`,
    },
  ],
});
export type QdrantCluster = ResourceOf<typeof QdrantCluster>;
export type ClusterSpec = QdrantCluster['spec'];
