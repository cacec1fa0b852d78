import {
  Client,
  ConfigMap,
  CustomResourceDefinition,
  isConflict,
  isNotFound,
  Job,
  type Kind,
  type KubernetesObject,
  type OwnerReference,
  ownerReference,
  PriorityClass,
  silentLogger,
  VirtualClock,
} from '@polder/kube';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ApiServer, createApiServer } from '../../apiserver/index.ts';
import { Random } from '../../simulation/random.ts';
import { GarbageCollector } from './index.ts';

/** An API server and a collector, on a virtual clock. */
class Yard {
  readonly clock = new VirtualClock();
  readonly server: ApiServer = createApiServer({ clock: this.clock, random: new Random(1).next });
  readonly client = new Client({ transport: this.server.transport(), userAgent: 'user', clock: this.clock });
  readonly #stop = new AbortController();
  #collecting: Promise<void> = Promise.resolve();

  collect(): this {
    const { server, client, clock } = this;
    const collector = new GarbageCollector({ server, client, clock, log: silentLogger });
    this.#collecting = collector.start(this.#stop.signal);
    return this;
  }

  async stop(): Promise<void> {
    this.#stop.abort(new Error('the test is over'));
    await this.#collecting;
    this.server.close();
  }

  settle(ms = 10_000): Promise<void> {
    return this.clock.advance(ms);
  }

  configMap(name: string, owners: readonly OwnerReference[] = [], finalizers: readonly string[] = []) {
    const metadata = { name, namespace: 'default', ownerReferences: owners, finalizers };
    return this.client.create(ConfigMap, { metadata });
  }

  async isThere<T extends KubernetesObject>(kind: Kind<T>, name: string): Promise<boolean> {
    return (await this.find(kind, { name, namespace: 'default' })) !== undefined;
  }

  async find<T extends KubernetesObject>(kind: Kind<T>, ref: { name: string; namespace?: string }) {
    try {
      return await this.client.get(kind, ref);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }
}

let yard: Yard;
beforeEach(() => {
  yard = new Yard();
});
afterEach(() => yard.stop());

const WIDGETS = { group: 'test.polder.dev', version: 'v1', kind: 'Widget', plural: 'widgets', namespaced: true };

const defineWidgets = () =>
  yard.client.create(CustomResourceDefinition, {
    metadata: { name: 'widgets.test.polder.dev' },
    spec: {
      group: 'test.polder.dev',
      scope: 'Namespaced',
      names: { kind: 'Widget', plural: 'widgets' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  });

test('what belonged to a custom resource goes with it, even when its kind goes in the same moment', async () => {
  yard.collect();
  await defineWidgets();
  await yard.settle();
  const widget = await yard.client.create(WIDGETS, { metadata: { name: 'a', namespace: 'default' } });
  await yard.configMap('child', [ownerReference(WIDGETS, widget)]);
  await yard.client.delete(CustomResourceDefinition, { name: 'widgets.test.polder.dev' });
  await yard.settle();
  expect(await yard.isThere(ConfigMap, 'child')).toBe(false);
});

test('an owner of a kind that nobody serves is waited for, not taken for gone', async () => {
  yard.collect();
  const uid = '00000000-0000-4000-8000-000000000000';
  await yard.configMap('child', [{ apiVersion: 'test.polder.dev/v1', kind: 'Widget', name: 'a', uid }]);
  await yard.settle(3_600_000);
  expect(await yard.isThere(ConfigMap, 'child')).toBe(true);
  await defineWidgets();
  await yard.settle(3_600_000);
  expect(await yard.isThere(ConfigMap, 'child')).toBe(false);
});

test('what is there when the collector starts is looked at', async () => {
  const owner = await yard.configMap('owner');
  await yard.configMap('child', [ownerReference(ConfigMap, owner)]);
  await yard.client.delete(ConfigMap, owner.metadata);
  yard.collect();
  await yard.settle();
  expect(await yard.isThere(ConfigMap, 'child')).toBe(false);
});

test('objects that own each other in a circle do not wait for each other for ever', async () => {
  yard.collect();
  const a = await yard.configMap('a');
  const b = await yard.configMap('b', [ownerReference(ConfigMap, a)]);
  const c = await yard.configMap('c', [ownerReference(ConfigMap, b)]);
  const ownerReferences = [ownerReference(ConfigMap, c)];
  await yard.client.patch(ConfigMap, a.metadata, { type: 'merge', body: { metadata: { ownerReferences } } });
  await yard.client.delete(ConfigMap, a.metadata, { propagationPolicy: 'Foreground' });
  await yard.settle();
  expect((await yard.client.list(ConfigMap, { namespace: 'default' })).items).toEqual([]);
});

test('a Job that is deleted without a word on how leaves its pods behind, as it always did', async () => {
  yard.collect();
  const template = { spec: { restartPolicy: 'Never' as const, containers: [{ name: 'c', image: 'i' }] } };
  const job = await yard.client.create(Job, { metadata: { name: 'j', namespace: 'default' }, spec: { template } });
  await yard.configMap('child', [ownerReference(Job, job)]);
  await yard.client.delete(Job, job.metadata);
  await yard.settle();
  expect(await yard.isThere(Job, 'j')).toBe(false);
  const child = await yard.find(ConfigMap, { name: 'child', namespace: 'default' });
  expect(child?.metadata.ownerReferences).toBeUndefined();
});

test('a deletion that is refused is tried again until it succeeds', async () => {
  yard.server.faults.on({ verb: 'delete', name: 'child', count: 7 }, { do: 'fail', when: 'before' });
  yard.collect();
  const owner = await yard.configMap('owner');
  await yard.configMap('child', [ownerReference(ConfigMap, owner)]);
  await yard.client.delete(ConfigMap, owner.metadata);
  await yard.settle();
  expect(await yard.isThere(ConfigMap, 'child')).toBe(false);
});

test('an object that changes while it is being judged is judged again', async () => {
  const [first, second] = [await yard.configMap('first'), await yard.configMap('second')];
  await yard.configMap('child', [ownerReference(ConfigMap, first)]);
  yard.collect();
  await yard.client.delete(ConfigMap, first.metadata);
  // Before the collector gets a word in: another owner takes the child.
  const ownerReferences = [{ ...ownerReference(ConfigMap, second) }];
  const child = { name: 'child', namespace: 'default' };
  const adoption = yard.client.patch(ConfigMap, child, { type: 'merge', body: { metadata: { ownerReferences } } });
  const isAdopted = await adoption.then(
    () => true,
    (error: unknown) => !(isNotFound(error) || isConflict(error)),
  );
  await yard.settle();
  expect(await yard.isThere(ConfigMap, 'child')).toBe(isAdopted);
});

// ── Any graph, any deletions ─────────────────────────────────────────────────────────────────────────────────────────

interface PlannedReference {
  readonly to: number;
  readonly is: 'right' | 'another uid' | 'another name';
  readonly blocks: boolean;
}
interface Planned {
  readonly place: 'default' | 'kube-public' | 'cluster';
  readonly owners: readonly PlannedReference[];
}

const anyReference = fc.record({
  to: fc.nat({ max: 6 }),
  is: fc.oneof({ weight: 6, arbitrary: fc.constant('right' as const) }, fc.constantFrom('another uid', 'another name')),
  blocks: fc.boolean(),
});
const anyObject = fc.record({
  place: fc.constantFrom<Planned['place'][]>('default', 'default', 'default', 'kube-public', 'cluster'),
  owners: fc.uniqueArray(anyReference, { maxLength: 3, selector: ({ to }) => to }),
});
const anyDeletion = fc.record({
  of: fc.nat({ max: 6 }),
  propagationPolicy: fc.constantFrom('Background' as const, 'Foreground' as const, 'Orphan' as const),
});

/** The rules, once more and without any machinery: who is left, and whom they name as owners. */
class Model {
  readonly #objects: readonly Planned[];
  readonly left = new Map<number, readonly PlannedReference[]>();

  constructor(objects: readonly Planned[]) {
    this.#objects = objects;
    for (const [i, { owners }] of objects.entries()) this.left.set(i, owners);
    this.#settle();
  }

  delete(index: number, policy: string): void {
    if (!this.left.delete(index)) return;
    if (policy === 'Orphan') {
      const isOther = ({ to, is }: PlannedReference) => to !== index || is === 'another uid';
      for (const [i, owners] of this.left) this.left.set(i, owners.filter(isOther));
    }
    this.#settle();
  }

  #settle(): void {
    for (let isDone = false; !isDone; ) {
      isDone = true;
      for (const [i, owners] of this.left) {
        const { place } = this.#objects[i] ?? {};
        const isNonsense = place === 'cluster' && owners.some(({ to }) => this.#objects[to]?.place !== 'cluster');
        const there = owners.filter((owner) => this.#isThere(owner, place));
        if (isNonsense || there.length === owners.length) continue;
        if (there.length > 0) this.left.set(i, there);
        else this.left.delete(i);
        isDone = false;
      }
    }
  }

  #isThere({ to, is }: PlannedReference, from: string | undefined): boolean {
    const place = this.#objects[to]?.place;
    return is === 'right' && this.left.has(to) && (place === 'cluster' || place === from);
  }
}

/** Nobody is its own owner, and what names an owner that it cannot have does not keep that one waiting. */
const sensible = (objects: readonly Planned[]): readonly Planned[] =>
  objects.map(({ place, owners }, i) => ({
    place,
    owners: owners
      .filter(({ to }) => to !== i && to < objects.length)
      .map((owner) => ({ ...owner, blocks: owner.blocks && place !== 'cluster' })),
  }));

const nameOf = (index: number) => `object-${index}`;
const kindAt = (place: Planned['place']): Kind => (place === 'cluster' ? PriorityClass : ConfigMap);
const refAt = (place: Planned['place'], index: number) =>
  place === 'cluster' ? { name: nameOf(index) } : { name: nameOf(index), namespace: place };

test('for any graph and any deletions, what is left is what the rules say', async () => {
  const objects = fc.array(anyObject, { minLength: 2, maxLength: 7 });
  await fc.assert(
    fc.asyncProperty(objects, fc.array(anyDeletion, { maxLength: 4 }), async (anyObjects, deletions) => {
      const world = new Yard();
      const planned = sensible(anyObjects);
      const uids = await build(world, planned);
      world.collect();
      await world.settle();
      const model = new Model(planned);
      for (const { of, propagationPolicy } of deletions) {
        const place = planned[of]?.place;
        if (place === undefined) continue;
        if (model.left.has(of)) await world.client.delete(kindAt(place), refAt(place, of), { propagationPolicy });
        model.delete(of, propagationPolicy);
        await world.settle();
      }
      for (const [i, { place }] of planned.entries()) {
        const object = await world.find(kindAt(place), refAt(place, i));
        const owners = object?.metadata.ownerReferences?.map(({ uid }) => uid) ?? [];
        const wanted = model.left.get(i)?.map(({ to, is }) => (is === 'another uid' ? STRANGER : uids[to]));
        expect([nameOf(i), object && owners]).toEqual([nameOf(i), wanted]);
      }
      await world.stop();
    }),
    { numRuns: 150 },
  );
});

const STRANGER = '00000000-0000-4000-8000-000000000000';

/** First the objects, then who belongs to whom: circles are possible. */
async function build(world: Yard, planned: readonly Planned[]): Promise<readonly string[]> {
  const uids: string[] = [];
  for (const [i, { place }] of planned.entries()) {
    const metadata = refAt(place, i);
    const { uid = '' } = (
      place === 'cluster'
        ? await world.client.create(PriorityClass, { metadata, value: 1 })
        : await world.client.create(ConfigMap, { metadata })
    ).metadata;
    uids.push(uid);
  }
  for (const [i, { place, owners }] of planned.entries()) {
    const ownerReferences = owners.map(({ to, is, blocks }) => {
      const kind = kindAt(planned[to]?.place ?? 'default');
      return {
        apiVersion: kind.group === '' ? kind.version : `${kind.group}/${kind.version}`,
        kind: kind.kind,
        name: is === 'another name' ? 'somebody' : nameOf(to),
        uid: is === 'another uid' ? STRANGER : (uids[to] ?? ''),
        blockOwnerDeletion: blocks,
      };
    });
    const body = { metadata: { ownerReferences } };
    await world.client.patch(kindAt(place), refAt(place, i), { type: 'merge', body });
  }
  return uids;
}
