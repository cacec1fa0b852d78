import { PersistentVolume, PersistentVolumeClaim, register } from '@polder/kube';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TestWorld } from '../test-world.ts';
import { capacityOf, isSmaller, objectionTo } from './binding.ts';
import { persistentVolumeClaims, persistentVolumes } from './index.ts';

const anyShape = {
  storage: fc.constantFrom('1Gi', '1500Mi', '2Gi', '3Gi'),
  accessModes: fc.constantFrom<('ReadWriteOnce' | 'ReadOnlyMany')[][]>(
    ['ReadWriteOnce'],
    ['ReadOnlyMany'],
    ['ReadWriteOnce', 'ReadOnlyMany'],
  ),
  storageClassName: fc.constantFrom('a', 'b'),
};
const anyChange = fc.oneof(
  fc.record({ do: fc.constant('offer' as const), ...anyShape }),
  fc.record({ do: fc.constant('claim' as const), ...anyShape }),
  fc.record({ do: fc.constant('give-up' as const), which: fc.nat({ max: 5 }) }),
  fc.record({ do: fc.constant('settle' as const) }),
);

test('whatever is offered and claimed, each volume has one claim that it suits, and no claim waits for a free volume', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyChange, { maxLength: 14 }), async (changes) => {
      const provisioner = { pathOf: () => '/', onVolumeDeleted: async () => {} };
      const world = new TestWorld().run(
        register(persistentVolumeClaims, (base) => ({ ...base, provisioner })),
        register(persistentVolumes, (base) => ({ ...base, provisioner })),
      );
      for (const [i, change] of changes.entries()) await make(world, i, change);
      await world.settle(30_000);
      const volumes = (await world.client.list(PersistentVolume)).items;
      const claims = (await world.client.list(PersistentVolumeClaim)).items;
      for (const claim of claims) {
        const volume = volumes.find(({ metadata }) => metadata.name === claim.spec?.volumeName);
        if (volume === undefined) {
          expect(claim.status?.phase).toBe('Pending');
          const free = volumes.filter(({ status }) => status?.phase === 'Available');
          expect(free.filter((one) => objectionTo(one, claim) === undefined)).toEqual([]);
        } else {
          expect(claim.status?.phase).toBe('Bound');
          expect(volume.status?.phase).toBe('Bound');
          expect(volume.spec?.claimRef?.uid).toBe(claim.metadata.uid);
          expect(objectionTo(volume, claim)).toBeUndefined();
          expect(isSmaller(capacityOf(volume), claim.status?.capacity?.['storage'])).toBe(false);
        }
      }
      const taken = claims.flatMap(({ spec }) => spec?.volumeName ?? []);
      expect(new Set(taken).size).toBe(taken.length);
      await world.stop();
    }),
    { numRuns: 25 },
  );
});

async function make(world: TestWorld, i: number, change: typeof anyChange extends fc.Arbitrary<infer C> ? C : never) {
  const { client } = world;
  switch (change.do) {
    case 'offer': {
      const { accessModes, storageClassName, storage } = change;
      const spec = { capacity: { storage }, accessModes, storageClassName, hostPath: { path: '/' } };
      await client.create(PersistentVolume, { metadata: { name: `v-${i}` }, spec });
      return;
    }
    case 'claim': {
      const { accessModes, storageClassName, storage } = change;
      const spec = { resources: { requests: { storage } }, accessModes, storageClassName };
      await client.create(PersistentVolumeClaim, { metadata: { name: `c-${i}`, namespace: 'default' }, spec });
      return;
    }
    case 'give-up': {
      // One that the controller is just letting go may be gone by then, which a collection does not mind.
      const { name } = (await client.list(PersistentVolumeClaim)).items[change.which]?.metadata ?? { name: 'none' };
      const fieldSelector = `metadata.name=${name}`;
      await client.deleteCollection(PersistentVolumeClaim, { namespace: 'default', fieldSelector });
      return;
    }
    case 'settle':
      await world.settle();
  }
}
