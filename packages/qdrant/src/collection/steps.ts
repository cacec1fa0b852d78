import { type Steps, UserMustAct } from '@polder/kube';
import { type Answer, CollectionsClient } from '../api/index.ts';
import { QdrantCluster, QdrantCollectionBackup, QdrantCollectionRestore } from '../kinds/index.ts';
import { doorsOf, keyringOf } from '../peers.ts';
import type { CollectionWorld } from './observe.ts';
import type { CollectionStep, ServerStep, Through } from './plan/index.ts';

export const collectionSteps: Steps<CollectionStep, CollectionWorld> = {
  async 'create-collection'(step, world) {
    const answer = await (await through(step.via, world)).create(step.collection, step.body);
    // Somebody was first, perhaps ourselves, unheard: the next pass compares what is there.
    if (answer.is === 'refused' && answer.status === 409) return;
    done(step, answer);
  },
  async 'update-collection'(step, world) {
    done(step, await (await through(step.via, world)).update(step.collection, step.patch));
  },
  async 'create-vector'(step, world) {
    const client = await through(step.via, world);
    done(step, await client.createVector(step.collection, step.vector, { [step.kind]: step.config }));
  },
  async 'create-shard-key'(step, world) {
    const { key: name, shards, copies } = step;
    done(step, await (await through(step.via, world)).createShardKey(step.collection, { name, shards, copies }));
  },
  async 'create-index'(step, world) {
    done(step, await (await through(step.via, world)).createIndex(step.collection, step.field, step.type));
  },
  async 'delete-index'(step, world) {
    done(step, await (await through(step.via, world)).deleteIndex(step.collection, step.field));
  },
  async 'change-aliases'(step, world) {
    done(step, await (await through(step.via, world)).changeAliases(step.actions));
  },
  async 'delete-collection'(step, world) {
    done(step, await (await through(step.via, world)).delete(step.collection));
  },

  'remove-child': ({ child }, { cluster }) =>
    child.kind === QdrantCollectionBackup.kind
      ? cluster.delete(QdrantCollectionBackup, child)
      : cluster.delete(QdrantCollectionRestore, child),
};

/** The peer that was asked in this pass: it knows what it was just told, which others may not for a while. */
async function through({ namespace, cluster: name, pod }: Through, world: CollectionWorld): Promise<CollectionsClient> {
  const cluster = await world.cluster.get(QdrantCluster, { namespace, name });
  if (!cluster) throw new Error(`QdrantCluster ${name} is gone`);
  const doors = doorsOf(cluster, await keyringOf(cluster, world.cluster));
  return new CollectionsClient(doors.peer(pod), world.peers, world.signal);
}

/** It will say the same the next time, whatever else happens. */
const FINAL: readonly number[] = [400, 403, 422];

/** What nobody answered may have been done: the pass fails, and the next one looks before it says anything again. */
function done({ do: what, collection }: ServerStep, answer: Answer<unknown>): void {
  if (answer.is === 'ok') return;
  const because = `${what} of ${collection}: ${answer.because}`;
  if (answer.is === 'refused' && FINAL.includes(answer.status) && what !== 'delete-collection') {
    throw new UserMustAct('Refused', `Qdrant refused ${because}`);
  }
  throw new Error(answer.is === 'ambiguous' ? `not known whether it was done: ${because}` : because);
}
