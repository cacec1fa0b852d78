import { type StepNamed, type Steps, sleep, UserMustAct } from '@polder/kube';
import { type Answer, type Door, PeerClient, RestoreClient } from '../api/index.ts';
import { doorsOf, keyringOf } from '../peers.ts';
import { openBucket } from './bucket.ts';
import type { RestoreWorld } from './observe.ts';
import { FAILED, type RestoreStep, type Through } from './plan/index.ts';

type Upload = StepNamed<RestoreStep, 'upload-part'>;

export const restoreSteps: Steps<RestoreStep, RestoreWorld> = {
  async 'create-collection'({ via, collection, config }, world) {
    const answer = await (await peerOf(via, world)).create(collection, config);
    // It was created, if not by us: what it is like is looked at before anything goes into it.
    if (answer.is === 'refused' && answer.status === 409) return;
    done(`collection ${collection} was not created`, answer);
  },

  async 'create-shard-key'({ via, collection, key, shards, copies }, world) {
    const answer = await (await peerOf(via, world)).createShardKey(collection, { key, shards, copies });
    // We were heard after all: what there is, is looked at before anything goes into it.
    if (answer.is === 'refused' && answer.because.includes('already exists')) return;
    done(`shard key ${JSON.stringify(key)} of ${collection} was not created`, answer);
  },

  async 'upload-part'(step, world) {
    const { via, collection, part, key, bucket: source } = step;
    const { sha256, shard, bytes } = part;
    if (sha256 === undefined) throw new Error(`${key} was not verified`);
    const bucket = await openBucket(source, world);
    const { signal } = world;
    const file = {
      bytes,
      async *read() {
        const object = await bucket.get(key, signal);
        if (!object) throw new Error(`${key} is not in the bucket any more`);
        yield* object.body;
      },
    };
    const answer = await (await peerOf(via, world)).upload({ collection, shard, sha256, file });
    done(`${via.pod} did not take ${key}`, answer);
    await marked(step, world);
  },

  async 'write-points'({ via, collection, points }, world) {
    done(`points were not written to ${collection}`, await (await peerOf(via, world)).upsert(collection, points));
  },

  async 'create-aliases'({ via, collection, aliases }, world) {
    const answer = await (await peerOf(via, world)).createAliases(collection, aliases);
    done(`the aliases ${aliases.join(', ')} were not created`, answer);
  },

  async 'delete-temporary'({ via, collection }, world) {
    done(`collection ${collection} was not deleted`, await (await peerOf(via, world)).remove(collection));
  },
};

async function doorOf({ cluster, pod }: Through, world: RestoreWorld): Promise<Door> {
  return doorsOf(cluster, await keyringOf(cluster, world.cluster)).peer(pod);
}

const peerOf = async (via: Through, world: RestoreWorld): Promise<RestoreClient> =>
  new RestoreClient(await doorOf(via, world), world.peers, world.signal);

/** Marks come by way of consensus, mostly within a second. */
const MARKS_MS = 2_000;
const LATEST_MARKS_MS = 20_000;
const LOOK_MS = 100;

/**
 * Watches the peer that took a file until its own copies count as active and the others were given up: those of the shard that
 * it is of, or all that come to be in so long if it is of many. All of that is proposed by this peer after its answer. If it
 * dies before, it comes back with a copy that is filled from the others: the file was taken, and nothing of it is left. And if
 * the leader dies at that moment, copies that differ are all called active. In both cases the file has to be sent again.
 */
async function marked({ via, collection, part: { shard }, others }: Upload, world: RestoreWorld): Promise<void> {
  const { peers, signal } = world;
  const { clock } = peers;
  const peer = new PeerClient(await doorOf(via, world), peers, signal);
  const left = new Set(others);
  const begun = clock.monotonic();
  for (;;) {
    const answer = await peer.distribution(collection);
    if (answer.is !== 'ok') throw new Error(`${via.pod} took a file of ${collection}, and then: ${answer.because}`);
    const { replicas, transfers } = answer.value;
    const isOfFile = (one: { readonly shard: number }) => shard === undefined || one.shard === shard;
    for (const id of others) {
      const isActive = replicas.some((one) => isOfFile(one) && one.peer === id && one.state === 'Active');
      if (!isActive || transfers.some((one) => isOfFile(one) && one.to === id)) left.delete(id);
    }
    // Only its own copies are counted by a peer.
    const isTaking = replicas.some(
      (one) => isOfFile(one) && one.points !== undefined && one.state === 'ManualRecovery',
    );
    const passed = clock.monotonic() - begun;
    if (left.size === 0 && !isTaking && (shard !== undefined || passed >= MARKS_MS)) return;
    if (passed >= LATEST_MARKS_MS) throw new Error(`not all copies in ${collection} followed what ${via.pod} took`);
    await sleep(clock, LOOK_MS, signal);
  }
}

/** What the server will say the next time, too. */
const FINAL: readonly number[] = [400, 405, 409, 422];

/** What nobody knows of is looked at by the next pass. What is refused for good ends the restore. */
function done(otherwise: string, answer: Answer<unknown>): void {
  if (answer.is === 'ok') return;
  const message = `${otherwise}: ${answer.because}`;
  if (answer.is === 'refused' && FINAL.includes(answer.status)) throw new UserMustAct(FAILED, message);
  throw new Error(message);
}
