import { isDeepStrictEqual } from 'node:util';
import {
  type Cluster,
  isConflict,
  NetworkPolicy,
  type ObjectMeta,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  Secret,
  Service,
  StatefulSet,
  type Steps,
} from '@polder/kube';
import { type Answer, PeerClient } from '../api/index.ts';
import type { QdrantCluster } from '../kinds/index.ts';
import { doorsOf, keyringOf } from '../peers.ts';
import { ServiceMonitor, VolumeSnapshot } from './foreign-kinds.ts';
import { renewed } from './issuing.ts';
import { apiKeySecret, namesOf, namespaceOf, QDRANT } from './objects/index.ts';
import type { ClusterWorld } from './observe.ts';
import type { ClusterStep, Through } from './plan/index.ts';

export const clusterSteps: Steps<ClusterStep, ClusterWorld> = {
  async 'create-key'({ cluster, name }, { cluster: kubernetes, newKey }) {
    const secret = apiKeySecret(cluster, name, { value: newKey() });
    await once(kubernetes.create(Secret, { ...secret, metadata: owned(cluster, secret.metadata) }));
  },

  async 'renew-certificate'({ cluster, next }, world) {
    const { certificate, authority: authorityName } = namesOf(cluster);
    const at = (name: string) => ({ namespace: namespaceOf(cluster), name });
    const [authority, served] = [
      await world.cluster.get(Secret, at(authorityName)),
      await world.cluster.get(Secret, at(certificate)),
    ];
    const after = await renewed(cluster, { authority, certificate: served }, next, world.peers.clock.now());
    if (after.authority) await write(authority, after.authority, cluster, world);
    if (after.certificate) await write(served, after.certificate, cluster, world);
  },

  async scale({ set, to, as }, { cluster }) {
    if (as) return await rescale(set, as, cluster);
    await cluster.patch(StatefulSet, set.metadata, {
      type: 'json',
      operations: [
        // Judged for this number of pods and no other.
        { op: 'test', path: '/spec/replicas', value: set.spec?.replicas },
        { op: 'replace', path: '/spec/replicas', value: to },
      ],
    });
  },

  async 'hold-updates'({ set }, { cluster }) {
    const operations = [{ op: 'replace' as const, path: '/spec/updateStrategy', value: { type: 'OnDelete' } }];
    await cluster.patch(StatefulSet, set.metadata, { type: 'json', operations });
  },

  async 'change-image'({ set, image }, { cluster }) {
    const containers = [{ name: QDRANT, image }];
    const body = { spec: { template: { spec: { containers } } } };
    await cluster.patch(StatefulSet, set.metadata, { type: 'strategic', body });
  },

  async 'restart-pod'({ pod, outdatedBy }, { cluster }) {
    // Its template may have been changed by somebody, and put right by this very pass: then the pod is as it should be.
    const set = outdatedBy && (await cluster.get(StatefulSet, outdatedBy.metadata));
    if (set?.metadata.generation === outdatedBy?.metadata.generation) await cluster.delete(Pod, pod);
  },

  async 'correct-ports'({ service, ports }, { cluster }) {
    await cluster.patch(Service, service.metadata, {
      type: 'json',
      operations: [
        { op: 'test', path: '/metadata/resourceVersion', value: service.metadata.resourceVersion },
        { op: 'replace', path: '/spec/ports', value: ports },
      ],
    });
  },

  'force-delete-pod': ({ pod }, { cluster }) => cluster.delete(Pod, pod, { gracePeriodSeconds: 0 }),

  async 'move-replica'({ via, ...travel }, world) {
    done('move-replica', await (await peerOf(via, world)).move(travel), world);
  },
  async 'replicate-shard'({ via, ...travel }, world) {
    done('replicate-shard', await (await peerOf(via, world)).replicate(travel), world);
  },
  async 'drop-replica'({ via, collection, shard, peer }, world) {
    done('drop-replica', await (await peerOf(via, world)).drop(collection, shard, peer), world);
  },
  async 'remove-peer'({ via, peer }, world) {
    done('remove-peer', await (await peerOf(via, world)).removePeer(peer), world);
  },

  async 'remove-volume'({ claim, beyond }, { cluster }) {
    // It may have been scaled up by a write that was done and called a failure, which no cache has seen yet. Then the volume is
    // that of a peer which is about to come, and would be gone with all that was moved to it when its pod ends.
    const live = beyond && (await cluster.getLive(StatefulSet, beyond.metadata));
    if (live?.spec?.replicas !== beyond?.spec?.replicas) {
      throw new Error(`StatefulSet ${beyond?.metadata.name} was scaled on the way`);
    }
    await cluster.delete(PersistentVolumeClaim, claim);
  },

  async 'expand-volume'({ claim, size }, { cluster }) {
    const body = { spec: { resources: { requests: { storage: size } } } };
    await cluster.patch(PersistentVolumeClaim, claim.metadata, { type: 'merge', body });
  },

  'recreate-set': ({ set }, { cluster }) => cluster.delete(StatefulSet, set, { propagationPolicy: 'Orphan' }),

  async 'create-volume-snapshot'({ snapshot }, { cluster }) {
    await once(cluster.create(VolumeSnapshot, snapshot));
  },
  'remove-volume-snapshot': ({ snapshot }, { cluster }) => cluster.delete(VolumeSnapshot, snapshot),

  async 'write-monitor'({ cluster, monitor, before }, { cluster: kubernetes }) {
    const after = { ...monitor, metadata: owned(cluster, monitor.metadata) };
    if (before)
      await kubernetes.patch(ServiceMonitor, before.metadata, { type: 'merge', body: { spec: monitor.spec } });
    else await once(kubernetes.create(ServiceMonitor, after));
  },
  'remove-monitor': ({ monitor }, { cluster }) => cluster.delete(ServiceMonitor, monitor),

  async 'remove-object'({ object }, { cluster }) {
    switch (object.kind) {
      case 'PodDisruptionBudget':
        return cluster.delete(PodDisruptionBudget, object);
      case 'NetworkPolicy':
        return cluster.delete(NetworkPolicy, object);
      default:
        return cluster.delete(StatefulSet, object);
    }
  },
};

/**
 * The new number comes with all else that is applied. (A patch would take it out of what we applied, and a second write back
 * into it.) It was judged for the number of pods that `set` has: its status may change on the way, that must not.
 */
async function rescale(set: StatefulSet, as: StatefulSet, cluster: Cluster): Promise<void> {
  for (;;) {
    const { metadata, spec } = await cluster.getLive(StatefulSet, set.metadata);
    if (metadata.uid !== set.metadata.uid || spec?.replicas !== set.spec?.replicas) {
      throw new Error(`StatefulSet ${metadata.name} was scaled by somebody else on the way`);
    }
    try {
      await cluster.apply(as, metadata.resourceVersion);
      return;
    } catch (error) {
      if (!isConflict(error)) throw error;
    }
  }
}

/** Whoever came first made it: what is there is what counts. */
async function once(creation: Promise<unknown>): Promise<void> {
  try {
    await creation;
  } catch (error) {
    if (!isConflict(error)) throw error;
  }
}

/** Whoever wrote meanwhile is looked at by the next pass. */
async function write(
  before: Secret | undefined,
  after: Secret,
  cluster: QdrantCluster,
  { cluster: kubernetes }: ClusterWorld,
): Promise<void> {
  if (!before) return await once(kubernetes.create(Secret, { ...after, metadata: owned(cluster, after.metadata) }));
  if (!isDeepStrictEqual(before.data, after.data)) {
    await kubernetes.update(Secret, { ...before, data: { ...before.data, ...after.data } });
  }
}

/** What is created, and not applied, names its owner itself. */
function owned({ apiVersion, kind, metadata }: QdrantCluster, head: ObjectMeta): ObjectMeta {
  const owner = { apiVersion, kind, name: metadata.name, uid: metadata.uid ?? '' };
  return { ...head, ownerReferences: [{ ...owner, controller: true, blockOwnerDeletion: true }] };
}

async function peerOf({ cluster, pod }: Through, world: ClusterWorld): Promise<PeerClient> {
  const doors = doorsOf(cluster, await keyringOf(cluster, world.cluster));
  return new PeerClient(doors.peer(pod), world.peers, world.signal);
}

/**
 * What was accepted begins now; what nobody knows of is looked at by the next pass, which asks again only if it was not
 * done. A refusal is news: a rule should have held it.
 */
function done(what: string, answer: Answer<unknown>, { log }: ClusterWorld): void {
  if (answer.is === 'ok') return;
  if (answer.is === 'ambiguous') return log.warn({ because: answer.because }, `${what} may not have been carried out`);
  throw new Error(`${what} was not carried out: ${answer.because}`);
}
