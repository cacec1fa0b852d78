/**
 * The operator as its users have it: a process of its own beside a cluster, of which nothing is known but what the API tells.
 * The same promises for every cluster.
 */
import { isNotFound, type KubernetesObject, Lease, Secret, StatefulSet, sleep, systemClock } from '@polder/kube';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ClusterUnderTest } from '../../../../tools/blackbox/clusters.ts';
import { drift, kindAmong, leavesOf, other, valueAt } from '../../../../tools/blackbox/fields.ts';
import { desired, joinUri } from '../../src/cluster/objects/index.ts';
import { QdrantCluster } from '../../src/kinds/index.ts';
import { aClusterOf, NUMBERS } from '../world.ts';
import { ClusterPlace, childKinds } from './place.ts';

const kindOf = kindAmong(childKinds);
const nameOf = ({ kind, metadata }: KubernetesObject) => `${kind}/${metadata.name}`;
const uidsOf = (objects: readonly KubernetesObject[]) => objects.map(({ metadata }) => metadata.uid);

export function runBlackbox(server: string, start: () => Promise<ClusterUnderTest>): void {
  describe(`the operator on the ${server} cluster`, () => {
    let cluster: ClusterUnderTest;
    const started = Date.now().toString(36);
    const open = (name: string) => ClusterPlace.open(cluster, `blackbox-qdrant-${name}-${started}`);

    beforeAll(async () => {
      cluster = await start();
    });
    afterAll(() => cluster.stop());

    describe('alone', () => {
      let place: ClusterPlace;
      beforeAll(async () => {
        place = await open('alone');
        await place.operator();
      });
      afterAll(() => place[Symbol.asyncDispose]());

      test('makes of a QdrantCluster peers that are one cluster, and all that they need', async () => {
        await place.apply('three', aClusterOf(3, { apikey: 'true', readApikey: 'true' }));
        const { status } = await place.settled('three', 3);
        expect(status).toMatchObject({ readyReplicas: 3, version: '1.19.0' });
        expect((await place.objectsOf('three')).map(nameOf).toSorted()).toEqual([
          'ConfigMap/three',
          'NetworkPolicy/three',
          'PodDisruptionBudget/three',
          'Secret/three-apikey',
          'Secret/three-read-apikey',
          'Service/three',
          'Service/three-headless',
          'StatefulSet/three',
        ]);
        const key = await place.keyOf('three');
        const seen = await place.ask<{ peers: object }>('three', 'GET', '/cluster', undefined, key);
        expect(Object.keys(seen.peers)).toHaveLength(3);
      });

      test('lets it grow and shrink, and every point stays', async () => {
        await place.apply('scaled', aClusterOf(1));
        await place.settled('scaled', 1);
        await place.fill('scaled', 4, 1);
        for (const replicas of [3, 2]) {
          await place.change('scaled', { replicas });
          await place.settled('scaled', replicas);
          expect(await place.numbersIn('scaled')).toEqual(NUMBERS);
        }
        await place.settles(async () => expect(await place.claimsOf('scaled')).toHaveLength(2));
      });

      test('upgrades one peer after the other, and the leader last', async () => {
        await place.apply('upgraded', aClusterOf(3, { image: 'qdrant/qdrant:v1.18.2' }));
        const { status } = await place.settled('upgraded', 3);
        await place.fill('upgraded', 3, 2);
        const leader = status?.peers?.find(({ role }) => role === 'Leader')?.pod;
        const before = place.hosts.started.length;
        await place.change('upgraded', { image: 'qdrant/qdrant:v1.19.0' });
        await place.settles(async () => {
          const now = await place.settled('upgraded', 3);
          expect(now.status?.version).toBe('1.19.0');
        });
        const order = place.hosts.started.slice(before);
        expect(order).toHaveLength(3);
        expect(order.at(-1)).toBe(leader);
        expect(await place.numbersIn('upgraded')).toEqual(NUMBERS);
      });

      test('notices what sends no event: a copy that is gone is made again', async () => {
        await place.apply('replicated', aClusterOf(2));
        const { status } = await place.settled('replicated', 2);
        await place.fill('replicated', 1, 2);
        const peer_id = JSON.rawJSON(status?.peers?.[1]?.id ?? '');
        const path = '/collections/points/cluster';
        await place.ask('replicated', 'POST', path, { drop_replica: { shard_id: 0, peer_id } });
        const copies = async () => {
          const seen = await place.ask<{ local_shards: object[]; remote_shards: object[] }>('replicated', 'GET', path);
          return [...seen.local_shards, ...seen.remote_shards];
        };
        expect(await copies()).toHaveLength(1);
        await place.settles(async () => {
          expect(await copies()).toMatchObject([{ state: 'Active' }, { state: 'Active' }]);
        });
      });

      test('has volumes grow in place', async () => {
        await place.allowExpansion();
        await place.apply('expanded', aClusterOf(2));
        await place.settled('expanded', 2);
        const pods = uidsOf(await place.podsOf('expanded'));
        await place.change('expanded', { persistence: { size: '2Gi' } });
        await place.settles(async () => {
          const { spec } = await place.client.get(StatefulSet, place.at('expanded'));
          const all = [...(spec?.volumeClaimTemplates ?? []), ...(await place.claimsOf('expanded'))];
          expect(all.map((one) => one.spec?.resources?.requests?.['storage'])).toEqual(['2Gi', '2Gi', '2Gi']);
        });
        await place.settled('expanded', 2);
        expect(uidsOf(await place.podsOf('expanded'))).toEqual(pods);
      });

      test('gives pods back that somebody scaled away', async () => {
        await place.apply('stopped', aClusterOf(2));
        await place.settled('stopped', 2);
        await place.fill('stopped', 2, 1);
        const before = uidsOf(await place.podsOf('stopped'));
        await place.client.setScale(StatefulSet, place.at('stopped'), 0);
        await place.settles(async () => {
          const now = uidsOf(await place.podsOf('stopped'));
          expect(now.filter((uid) => before.includes(uid))).toEqual([]);
        });
        await place.settles(async () => expect(await place.numbersIn('stopped')).toEqual(NUMBERS));
        await place.settled('stopped', 2);
      });

      test('makes nothing of a spec that can not be, says what is wrong, and makes it once it is right', async () => {
        await place.apply('wrong', { ...aClusterOf(1), image: '' });
        const { status } = await place.settles(async () => {
          const found = await place.client.get(QdrantCluster, place.at('wrong'));
          expect(found.status?.qdrantStatus).toBe('Error');
          return found;
        });
        expect(status).toMatchObject({ reason: 'InvalidSpec', errorMessage: expect.stringContaining('spec.image') });
        const ready = status?.conditions?.find(({ type }) => type === 'Ready');
        expect(ready).toMatchObject({ status: 'False', reason: 'InvalidSpec' });
        expect(await place.objectsOf('wrong')).toEqual([]);
        await place.apply('wrong', aClusterOf(1));
        await place.settled('wrong', 1);
      });

      test('takes all of it away with the cluster, also if somebody was there before', async () => {
        await place.apply('deleted', aClusterOf(2, { deletionPolicy: { pvc: 'Delete' } }));
        await place.settled('deleted', 2);
        const deleting = place.client.delete(StatefulSet, place.at('deleted'));
        await place.client.delete(QdrantCluster, place.at('deleted'));
        await deleting;
        await place.settles(async () => {
          const found = await place.client.get(QdrantCluster, place.at('deleted')).catch(undefinedIfNotFound);
          expect(found).toBeUndefined();
        });
        await place.settles(async () => {
          const left = [
            await place.objectsOf('deleted'),
            await place.podsOf('deleted'),
            await place.claimsOf('deleted'),
          ];
          expect(left.flat().map(nameOf)).toEqual([]);
        });
      });

      describe('makes sure', () => {
        const SPEC = aClusterOf(2, { apikey: 'given', readApikey: 'also given' });
        beforeAll(async () => {
          await place.apply('kept', SPEC);
          await place.settled('kept', 2);
        });

        /** What the operator wants there to be. */
        const objects = async () => {
          const workload = {
            replicas: 2,
            image: SPEC.image,
            apiKey: { value: 'given', isGiven: true },
            readKey: { value: 'also given', isGiven: true },
            tls: undefined,
            storageSize: '1Gi',
            snapshotsSize: undefined,
          };
          const found = await place.client.get(QdrantCluster, place.at('kept'));
          return desired(found, { ...workload, bootstrap: joinUri(found) }).objects.map((object) => ({
            kind: kindOf(object),
            object,
          }));
        };

        test('that every field of every object is as it should be, whoever changes it, and restarts nobody', async () => {
          const pods = uidsOf(await place.podsOf('kept'));
          let reverted = 0;
          for (const { kind, object } of await objects()) {
            for (const { pointer, value } of leavesOf(object)) {
              const before = valueAt(await place.client.get(kind, object.metadata), pointer);
              const change = { op: 'replace', path: pointer, value: other(value) } as const;
              if (!(await drift(place.client, kind, object, change))) continue;
              await place.settles(async () => {
                const now = valueAt(await place.client.get(kind, object.metadata), pointer);
                expect(now, `${pointer} of ${object.kind} ${object.metadata.name}`).toEqual(before);
              });
              reverted++;
            }
          }
          console.log(`${reverted} fields changed and reverted`);
          expect(reverted).toBeGreaterThan(60);
          await place.settled('kept', 2);
          expect(uidsOf(await place.podsOf('kept'))).toEqual(pods);
        });

        test('that every object is there, whoever deletes it', async () => {
          for (const { kind, object } of await objects()) {
            const { metadata } = await place.client.get(kind, object.metadata);
            await place.client.delete(kind, object.metadata);
            await place.settles(async () => {
              expect((await place.client.get(kind, object.metadata)).metadata.uid).not.toBe(metadata.uid);
            });
          }
          await place.settled('kept', 2);
        });

        test('that nothing is written while nothing happens', async () => {
          await place.settled('kept', 2);
          const versions = async () => {
            const all = [await place.client.get(QdrantCluster, place.at('kept')), ...(await place.objectsOf('kept'))];
            return all.map((object) => `${nameOf(object)} ${object.metadata.resourceVersion}`);
          };
          const before = await versions();
          await sleep(systemClock, 3_000);
          expect(await versions()).toEqual(before);
        });
      });
    });

    test('generates a key once, whoever restarts it and whatever else is put into the Secret', async () => {
      await using place = await open('key');
      const first = await place.operator();
      await place.apply('keyed', aClusterOf(1, { apikey: 'true' }));
      await place.settled('keyed', 1);
      const key = await place.keyOf('keyed');
      expect(key).toMatch(/^[A-Za-z0-9]{32}$/);
      const note = { data: { note: Buffer.from('of the user').toString('base64') } };
      await place.client.patch(Secret, place.at('keyed-apikey'), { type: 'merge', body: note });
      await first.end('SIGTERM');
      await place.operator();
      // Something that the new one has to do: then it has looked at the cluster.
      await place.change('keyed', { config: { log_level: 'DEBUG' } });
      await place.settled('keyed', 1);
      expect(await place.keyOf('keyed')).toBe(key);
      expect((await place.client.get(Secret, place.at('keyed-apikey'))).data).toMatchObject(note.data);
    });

    test('puts right what was changed while it was away, and restarts nobody for it', async () => {
      await using place = await open('away');
      const first = await place.operator();
      await place.apply('changed', aClusterOf(2));
      await place.settled('changed', 2);
      const pods = uidsOf(await place.podsOf('changed'));
      await first.end('SIGTERM');
      const grace = (seconds: number) => ({ spec: { template: { spec: { terminationGracePeriodSeconds: seconds } } } });
      const set = () => place.client.get(StatefulSet, place.at('changed'));
      const before = (await set()).status?.updateRevision;
      await place.client.patch(StatefulSet, place.at('changed'), { type: 'merge', body: grace(7) });
      await place.settles(async () => expect((await set()).status?.updateRevision).not.toBe(before));
      await place.operator();
      await place.settles(async () => expect((await set()).status?.updateRevision).toBe(before));
      // Something that it has to do after that: then it has looked again.
      await place.change('changed', { networkPolicy: { enabled: false } });
      await place.settled('changed', 2);
      expect(uidsOf(await place.podsOf('changed'))).toEqual(pods);
    });

    test('makes one cluster of each, however often it is killed on the way', async () => {
      await using place = await open('killed');
      await place.apply('killed', aClusterOf(3));
      for (const peers of [0, 1, 2, 3]) {
        const operator = await place.operator();
        await place.settles(async () => expect((await place.podsOf('killed')).length).toBeGreaterThanOrEqual(peers));
        await operator.end('SIGKILL');
      }
      await place.operator();
      const { status } = await place.settled('killed', 3);
      expect(status?.peers?.map(({ pod }) => pod).toSorted()).toEqual(['killed-0', 'killed-1', 'killed-2']);
      const { items } = await place.client.list(StatefulSet, { namespace: place.namespace });
      expect(items.map(nameOf)).toEqual(['StatefulSet/killed']);
      expect(place.hosts.started.toSorted()).toEqual(['killed-0', 'killed-1', 'killed-2']);
    });

    test('as one of two, finishes what the other was killed at, writes nothing twice, and takes it all away', async () => {
      await using place = await open('two');
      const names = Array.from({ length: 10 }, (_, at) => `cluster-${at}`);
      const holder = async () =>
        (await place.client.get(Lease, place.at('qdrant-operator'))).spec?.holderIdentity ?? '';
      const first = await place.operator();
      const leader = await place.settles(async () => {
        const name = await holder();
        expect(name).not.toBe('');
        return name;
      });
      const second = await place.operator();
      const sets = async () => (await place.client.list(StatefulSet, { namespace: place.namespace })).items;
      const applying = (async () => {
        for (const name of names) await place.apply(name, aClusterOf(1));
      })();
      await place.settles(async () => expect((await sets()).length).toBeGreaterThan(1));
      expect(await holder()).toBe(leader);
      expect(await first.end('SIGKILL')).toBeNull();
      await applying;
      for (const name of names) await place.settled(name, 1);
      expect(await holder()).not.toBe(leader);
      expect((await sets()).map(({ metadata }) => [metadata.name, metadata.generation])).toEqual(
        names.map((name) => [name, 1]),
      );
      for (const name of names) await place.client.delete(QdrantCluster, place.at(name));
      await place.settles(async () => expect(await sets()).toEqual([]));
      expect(await second.end('SIGTERM')).toBe(0);
      expect(await holder()).toBe('');
    });
  });
}

function undefinedIfNotFound(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}
