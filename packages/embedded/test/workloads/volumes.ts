import { claim, claims, pod, pods } from '../contract/objects.ts';
import type { Body } from '../contract/wire.ts';
import { onDrivenNode } from './pods.ts';
import { expect, topic } from './suite.ts';
import type { Workloads } from './workloads.ts';

const VOLUMES = '/api/v1/persistentvolumes';
const CLASSES = '/apis/storage.k8s.io/v1/storageclasses';

const RELEASE = { metadata: { finalizers: null } };

type Fields = Readonly<Record<string, unknown>>;

const volume = (name: string, storage: string, spec: Fields = {}, metadata: Fields = {}) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name, ...metadata },
  spec: {
    capacity: { storage },
    accessModes: ['ReadWriteOnce'],
    // Somebody else's driver: no controller of the cluster itself knows how to make or delete such volumes.
    csi: { driver: 'driven.example.com', volumeHandle: name },
    ...spec,
  },
});

const requests = (storage: string) => ({ resources: { requests: { storage } } });

/** The claim, as the reference by which a volume is bound to it. */
const claimRef = ({ metadata: { namespace, name, uid } }: Body) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  namespace,
  name,
  uid,
});

const using = (claimName: string) => ({ volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }] });

/** A class whose provisioner is the case itself. */
async function drivenClass({ wire, fresh }: Workloads, fields: Fields = {}): Promise<string> {
  const name = fresh('class');
  await wire.must(wire.create(CLASSES, { metadata: { name }, provisioner: 'driven.example.com', ...fields }));
  return name;
}

/** A namespace and, in a class that nobody else uses, a claim and the volume bound to it. */
async function boundPair(world: Workloads, spec: Fields = {}) {
  const { wire, namespace, fresh, becomes } = world;
  const ns = await namespace();
  const [name, storageClassName] = [fresh('volume'), fresh('class')];
  await wire.must(wire.create(VOLUMES, volume(name, '1Gi', { storageClassName, ...spec })));
  await wire.must(wire.create(claims(ns), claim('data', { storageClassName })));
  await becomes(`${VOLUMES}/${name}`, { status: { phase: 'Bound' } });
  const bound = await becomes(`${claims(ns)}/data`, { status: { phase: 'Bound' } });
  return { ns, storageClassName, claimPath: `${claims(ns)}/data`, volumePath: `${VOLUMES}/${name}`, bound };
}

export const volumes = topic('volumes and claims', (promise) => {
  promise('find each other: the smallest volume that is large enough', async (world) => {
    const { wire, namespace, fresh, becomes } = world;
    const ns = await namespace();
    const storageClassName = fresh('class');
    const [small, fitting, large] = [fresh('small'), fresh('fitting'), fresh('large')];
    await wire.must(wire.create(VOLUMES, volume(large, '10Gi', { storageClassName })));
    await wire.must(wire.create(VOLUMES, volume(fitting, '5Gi', { storageClassName })));
    await wire.must(wire.create(VOLUMES, volume(small, '1Gi', { storageClassName })));
    for (const name of [small, fitting, large]) await becomes(`${VOLUMES}/${name}`, { status: { phase: 'Available' } });

    const created = await wire.must(wire.create(claims(ns), claim('data', { storageClassName, ...requests('2Gi') })));

    expect(created.status).toMatchObject({ phase: 'Pending' });
    await becomes(`${claims(ns)}/data`, {
      metadata: {
        annotations: { 'pv.kubernetes.io/bind-completed': 'yes', 'pv.kubernetes.io/bound-by-controller': 'yes' },
      },
      spec: { volumeName: fitting, ...requests('2Gi') },
      status: { phase: 'Bound', accessModes: ['ReadWriteOnce'], capacity: { storage: '5Gi' } },
    });
    await becomes(`${VOLUMES}/${fitting}`, {
      metadata: { annotations: { 'pv.kubernetes.io/bound-by-controller': 'yes' } },
      spec: { claimRef: claimRef(created) },
      status: { phase: 'Bound' },
    });
    await becomes(`${VOLUMES}/${large}`, { status: { phase: 'Available' } });
  });

  promise('wait for each other if size, access mode or class do not fit', async (world) => {
    const { wire, namespace, fresh, becomes } = world;
    const ns = await namespace();
    const storageClassName = fresh('class');
    await wire.must(wire.create(VOLUMES, volume(fresh('volume'), '1Gi', { storageClassName })));
    const refused = {
      larger: claim('larger', { storageClassName, ...requests('2Gi') }),
      shared: claim('shared', { storageClassName, accessModes: ['ReadWriteMany'] }),
      foreign: claim('foreign', { storageClassName: fresh('class') }),
      classless: claim('classless', { storageClassName: '' }),
      block: claim('block', { storageClassName, volumeMode: 'Block' }),
    };
    for (const body of Object.values(refused)) await wire.must(wire.create(claims(ns), body));
    await wire.must(wire.create(claims(ns), claim('fitting', { storageClassName })));

    await becomes(`${claims(ns)}/fitting`, { status: { phase: 'Bound' } });

    for (const name of Object.keys(refused)) {
      expect((await wire.get(`${claims(ns)}/${name}`)).body.status, name).toEqual({ phase: 'Pending' });
    }
    await wire.must(wire.create(VOLUMES, volume(fresh('volume'), '2Gi', { storageClassName })));
    await becomes(`${claims(ns)}/larger`, { status: { phase: 'Bound' } });
  });

  promise('are matched by label if the claim has a selector', async ({ wire, namespace, fresh, becomes }) => {
    const ns = await namespace();
    const storageClassName = fresh('class');
    const [plain, fast] = [fresh('plain'), fresh('fast')];
    await wire.must(wire.create(VOLUMES, volume(plain, '1Gi', { storageClassName })));
    await wire.must(wire.create(VOLUMES, volume(fast, '5Gi', { storageClassName }, { labels: { disk: 'fast' } })));
    const selector = { matchLabels: { disk: 'fast' } };
    await wire.must(wire.create(claims(ns), claim('data', { storageClassName, selector })));
    await becomes(`${claims(ns)}/data`, { spec: { volumeName: fast }, status: { phase: 'Bound' } });
  });

  promise('can name each other', async ({ wire, namespace, fresh, becomes }) => {
    const ns = await namespace();
    const storageClassName = fresh('class');
    const [small, named, reserved] = [fresh('small'), fresh('named'), fresh('reserved')];
    await wire.must(wire.create(VOLUMES, volume(small, '1Gi', { storageClassName })));
    await wire.must(wire.create(VOLUMES, volume(named, '10Gi', { storageClassName })));
    const owner = { namespace: ns, name: 'expected' };
    await wire.must(wire.create(VOLUMES, volume(reserved, '10Gi', { storageClassName, claimRef: owner })));

    await wire.must(wire.create(claims(ns), claim('choosing', { storageClassName, volumeName: named })));
    await becomes(`${claims(ns)}/choosing`, { spec: { volumeName: named }, status: { phase: 'Bound' } });

    await wire.must(wire.create(claims(ns), claim('intruder', { storageClassName, volumeName: reserved })));
    await wire.must(wire.create(claims(ns), claim('expected', { storageClassName })));
    await becomes(`${claims(ns)}/expected`, { spec: { volumeName: reserved }, status: { phase: 'Bound' } });
    await becomes(`${claims(ns)}/intruder`, { status: { phase: 'Pending' } });
    await becomes(`${VOLUMES}/${small}`, { status: { phase: 'Available' } });
  });

  promise('of a class with a provisioner wait for it, and are bound to what it makes', async (world) => {
    const { wire, namespace, fresh, becomes } = world;
    const ns = await namespace();
    const storageClassName = await drivenClass(world);
    await wire.must(wire.create(claims(ns), claim('data', { storageClassName })));

    const waiting = await becomes(`${claims(ns)}/data`, {
      metadata: { annotations: { 'volume.kubernetes.io/storage-provisioner': 'driven.example.com' } },
      status: { phase: 'Pending' },
    });
    const name = fresh('volume');
    const made = volume(name, '1Gi', { storageClassName, claimRef: claimRef(waiting) });
    await wire.must(wire.create(VOLUMES, made));

    await becomes(`${claims(ns)}/data`, { spec: { volumeName: name }, status: { phase: 'Bound' } });
    await becomes(`${VOLUMES}/${name}`, { status: { phase: 'Bound' } });
  });

  promise('without a class get the default one, and a volume by it', async ({ wire, namespace, becomes, gone }) => {
    const ns = await namespace();
    const isDefault = ({ metadata: { annotations } }: Body) =>
      annotations?.['storageclass.kubernetes.io/is-default-class'] === 'true';
    const standard = (await wire.get(CLASSES)).body.items.find(isDefault);
    const created = await wire.must(wire.create(claims(ns), claim('data')));
    expect(created.spec['storageClassName']).toBe(standard?.metadata.name);
    const { spec } = await becomes(`${claims(ns)}/data`, {
      status: { phase: 'Bound', capacity: { storage: '1Gi' } },
    });
    const volumePath = `${VOLUMES}/${String(spec['volumeName'])}`;
    await becomes(volumePath, { status: { phase: 'Bound' } });
    await wire.must(wire.delete(`${claims(ns)}/data`));
    await gone(volumePath);
  });

  promise('stay together until the claim goes: the volume is then released, for nobody else', async (world) => {
    const { wire, becomes, gone } = world;
    const { ns, storageClassName, claimPath, volumePath, bound } = await boundPair(world, {
      persistentVolumeReclaimPolicy: 'Retain',
    });

    await wire.must(wire.delete(claimPath));
    await gone(claimPath);
    await becomes(volumePath, { spec: { claimRef: claimRef(bound) }, status: { phase: 'Released' } });

    // Not even for a claim of the same name.
    await wire.must(wire.create(claims(ns), claim('data', { storageClassName })));
    const { storageClassName: other } = await boundPair(world);
    expect(other).not.toBe(storageClassName);
    await becomes(claimPath, { status: { phase: 'Pending' } });

    await wire.must(wire.patch('merge', volumePath, { spec: { claimRef: null } }));
    await becomes(claimPath, { status: { phase: 'Bound' } });
  });

  promise('with the policy Delete are left to their provisioner when the claim goes', async (world) => {
    const { wire, namespace, fresh, becomes, gone } = world;
    const ns = await namespace();
    const storageClassName = await drivenClass(world);
    const waiting = await wire.must(wire.create(claims(ns), claim('data', { storageClassName })));
    const name = fresh('volume');
    const annotations = { 'pv.kubernetes.io/provisioned-by': 'driven.example.com' };
    const spec = { storageClassName, claimRef: claimRef(waiting), persistentVolumeReclaimPolicy: 'Delete' };
    await wire.must(wire.create(VOLUMES, volume(name, '1Gi', spec, { annotations })));
    await becomes(`${claims(ns)}/data`, { status: { phase: 'Bound' } });

    await wire.must(wire.delete(`${claims(ns)}/data`));
    await gone(`${claims(ns)}/data`);

    await becomes(`${VOLUMES}/${name}`, { status: { phase: 'Released' } });
    await wire.must(wire.delete(`${VOLUMES}/${name}`));
    await gone(`${VOLUMES}/${name}`);
  });

  promise('are not taken from under a pod, not even one that has ended', async (world) => {
    const { wire, place, becomes, gone } = world;
    const { ns, claimPath, bound } = await boundPair(world);
    expect(bound.metadata.finalizers).toEqual(['kubernetes.io/pvc-protection']);
    const user = await world.becomeReady(await place(ns, 'user', { spec: using('data') }));

    await wire.must(wire.delete(claimPath));
    await becomes(claimPath, { metadata: { deletionTimestamp: expect.any(String) } });

    await world.succeed(user);
    const bystander = await boundPair(world);
    await wire.must(wire.delete(bystander.claimPath));
    await gone(bystander.claimPath);
    await becomes(claimPath, { metadata: { finalizers: ['kubernetes.io/pvc-protection'] } });

    await wire.must(wire.delete(`${pods(ns)}/user`));
    await gone(claimPath);
  });

  promise('do not wait for a pod that has no node', async (world) => {
    const { wire, gone } = world;
    const { ns, claimPath } = await boundPair(world);
    const nowhere = { nodeSelector: { 'contract.polder.io/nowhere': 'true' } };
    await wire.must(wire.create(pods(ns), pod('user', { ...nowhere, ...using('data') })));
    await wire.must(wire.delete(claimPath));
    await gone(claimPath);
  });

  promise('keep a volume that is deleted until its claim is gone', async (world) => {
    const { wire, becomes, gone } = world;
    const { claimPath, volumePath } = await boundPair(world);
    const going = await wire.must(wire.delete(volumePath));
    expect(going.metadata.finalizers).toEqual(['kubernetes.io/pv-protection']);
    await becomes(claimPath, { status: { phase: 'Bound' } });
    await wire.must(wire.delete(claimPath));
    await gone(volumePath);
  });

  promise('are lost when the volume goes all the same', async (world) => {
    const { wire, becomes } = world;
    const { claimPath, volumePath } = await boundPair(world);
    await wire.must(wire.delete(volumePath));
    await wire.must(wire.patch('merge', volumePath, RELEASE));
    await becomes(claimPath, { status: { phase: 'Lost' } });
  });

  promise('grow only if their class allows it, and never shrink', async (world) => {
    const { wire, namespace, fresh, becomes } = world;
    const ns = await namespace();
    const grow = async (storageClassName: string, name: string) => {
      await wire.must(wire.create(VOLUMES, volume(fresh('volume'), '1Gi', { storageClassName })));
      await wire.must(wire.create(claims(ns), claim(name, { storageClassName })));
      await becomes(`${claims(ns)}/${name}`, { status: { phase: 'Bound' } });
      return wire.patch('merge', `${claims(ns)}/${name}`, { spec: requests('2Gi') });
    };

    const refused = await grow(await drivenClass(world), 'fixed');
    expect(refused.status).toBe(403);
    expect(refused.body.message).toBe(
      'persistentvolumeclaims "fixed" is forbidden: only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
    );

    const allowed = await grow(await drivenClass(world, { allowVolumeExpansion: true }), 'growing');
    expect(allowed.status).toBe(200);
    expect(allowed.body).toMatchObject({ spec: requests('2Gi'), status: { capacity: { storage: '1Gi' } } });

    const shrunk = await wire.patch('merge', `${claims(ns)}/growing`, { spec: requests('512Mi') });
    expect(shrunk.status).toBe(422);
    expect(shrunk.body.details.causes).toMatchObject([{ field: 'spec.resources.requests.storage' }]);
  });

  promise('of a class that waits are bound where their first pod can run', async (world) => {
    const { wire, namespace, fresh, becomes, scheduled } = world;
    const ns = await namespace();
    const storageClassName = await drivenClass(world, {
      provisioner: 'kubernetes.io/no-provisioner',
      volumeBindingMode: 'WaitForFirstConsumer',
    });
    const onNode = (hostname: string) => ({
      required: {
        nodeSelectorTerms: [
          { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [hostname] }] },
        ],
      },
    });
    const [elsewhere, here] = [fresh('elsewhere'), fresh('here')];
    await wire.must(
      wire.create(VOLUMES, volume(elsewhere, '1Gi', { storageClassName, nodeAffinity: onNode('nowhere') })),
    );
    await wire.must(wire.create(VOLUMES, volume(here, '5Gi', { storageClassName, nodeAffinity: onNode('driven') })));
    await wire.must(wire.create(claims(ns), claim('data', { storageClassName })));
    await world.recorded(ns, 'data', {
      type: 'Normal',
      reason: 'WaitForFirstConsumer',
      message: 'waiting for first consumer to be created before binding',
    });
    await becomes(`${claims(ns)}/data`, { status: { phase: 'Pending' } });

    await wire.must(wire.create(pods(ns), pod('user', { ...onDrivenNode, ...using('data') })));

    await becomes(`${claims(ns)}/data`, { spec: { volumeName: here }, status: { phase: 'Bound' } });
    expect((await scheduled(ns, 'user')).spec.nodeName).toBe('driven');
  });

  promise('of a class that waits are made for the node of their first pod', async (world) => {
    const { wire, namespace, fresh, becomes, scheduled } = world;
    const ns = await namespace();
    const storageClassName = await drivenClass(world, { volumeBindingMode: 'WaitForFirstConsumer' });
    await wire.must(wire.create(claims(ns), claim('data', { storageClassName })));
    await wire.must(wire.create(pods(ns), pod('user', { ...onDrivenNode, ...using('data') })));

    const waiting = await becomes(`${claims(ns)}/data`, {
      metadata: {
        annotations: {
          'volume.kubernetes.io/selected-node': 'driven',
          'volume.kubernetes.io/storage-provisioner': 'driven.example.com',
        },
      },
    });
    expect((await world.pod(ns, 'user')).spec.nodeName).toBeUndefined();
    const made = volume(fresh('volume'), '1Gi', { storageClassName, claimRef: claimRef(waiting) });
    await wire.must(wire.create(VOLUMES, made));

    expect((await scheduled(ns, 'user')).spec.nodeName).toBe('driven');
    await becomes(`${claims(ns)}/data`, { status: { phase: 'Bound' } });
  });
});
