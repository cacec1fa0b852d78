import { claims, pods, statefulSet, statefulSets } from '../contract/objects.ts';
import type { Body } from '../contract/wire.ts';
import { onDrivenNode, type Pod } from './pods.ts';
import { expect } from './suite.ts';
import type { Workloads } from './workloads.ts';

export type Fields = Readonly<Record<string, unknown>>;

export const revisions = (namespace: string) => `/apis/apps/v1/namespaces/${namespace}/controllerrevisions`;

export const template = (image: string, spec: Fields = {}) => ({
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'main', image: `example.com/main:${image}` }], ...spec },
});

export const imageOf = ({ spec }: Pod) => spec.containers[0]?.image.split(':')[1];

/** A claim that no volume will ever fit: what is done about claims is all that happens. */
export const DATA = {
  metadata: { name: 'data', labels: { tier: 'db' } },
  spec: { accessModes: ['ReadWriteOnce'], storageClassName: '', resources: { requests: { storage: '1Gi' } } },
};

/** A set whose pods the case drives. */
export class DrivenSet {
  readonly namespace: string;
  readonly path: string;
  readonly #world: Workloads;
  #placed: Fields = onDrivenNode;

  private constructor(world: Workloads, namespace: string) {
    this.#world = world;
    this.namespace = namespace;
    this.path = `${statefulSets(namespace)}/web`;
  }

  static async open(world: Workloads, spec: Fields = {}): Promise<DrivenSet> {
    const set = new DrivenSet(world, await world.namespace());
    // Their claims are never bound, so such pods are never placed.
    if ('volumeClaimTemplates' in spec) set.#placed = {};
    const { wire } = world;
    const body = statefulSet('web', { template: template('1', set.#placed), ...spec });
    await wire.must(wire.create(statefulSets(set.namespace), body));
    return set;
  }

  /** The same, and all members are ready. */
  static async ready(world: Workloads, replicas: number, spec: Fields = {}): Promise<DrivenSet> {
    const set = await DrivenSet.open(world, { replicas, ...spec });
    for (let ordinal = 0; ordinal < replicas; ordinal++) await set.becomeReady(ordinal);
    await set.reports({ readyReplicas: replicas, updatedReplicas: replicas });
    return set;
  }

  change(spec: Fields): Promise<Body> {
    return this.#world.wire.must(this.#world.wire.patch('merge', this.path, { spec }));
  }

  update(image: string): Promise<Body> {
    return this.change({ template: template(image, this.#placed) });
  }

  reports(status: Fields): Promise<Body> {
    return this.#world.becomes(this.path, { status });
  }

  /** Returns when the controller has looked at everything once more, and done what it would do. */
  async settled(): Promise<void> {
    const { metadata } = await this.#world.wire.must(
      this.#world.wire.patch('json', this.path, [
        { op: 'replace', path: '/spec/revisionHistoryLimit', value: this.#next() },
      ]),
    );
    await this.reports({ observedGeneration: metadata.generation });
  }

  #limit = 10;
  #next(): number {
    this.#limit += 1;
    return this.#limit;
  }

  members(): Promise<readonly Pod[]> {
    return this.#world.podsOf(this.namespace, 'app=web');
  }

  async names(): Promise<readonly string[]> {
    return (await this.members()).map(({ metadata }) => metadata.name);
  }

  async going(): Promise<readonly string[]> {
    const members = await this.members();
    return members.filter((one) => one.metadata.deletionTimestamp !== undefined).map(({ metadata }) => metadata.name);
  }

  /** Waits until the member is there, and not on its way out. */
  member(ordinal: number): Promise<Pod> {
    return this.#world.settles(async () => {
      const found = await this.#world.pod(this.namespace, `web-${ordinal}`);
      expect(found.metadata).not.toHaveProperty('deletionTimestamp');
      return found;
    });
  }

  async becomeReady(ordinal: number): Promise<void> {
    const { namespace } = this;
    await this.member(ordinal);
    if (this.#placed !== onDrivenNode) await this.#world.becomeReady(await this.member(ordinal));
    else await this.#world.becomeReady(await this.#world.scheduled(namespace, `web-${ordinal}`));
  }

  async fail(ordinal: number): Promise<void> {
    await this.#world.fail(await this.member(ordinal));
  }

  /** Waits until the member is being deleted, and ends it. */
  async end(ordinal: number): Promise<void> {
    const found = await this.#world.pod(this.namespace, `web-${ordinal}`);
    await this.#world.becomesGoing(found);
    await this.#world.finishDeletion(found);
  }

  async delete(ordinal: number): Promise<void> {
    await this.#world.wire.must(this.#world.wire.delete(`${pods(this.namespace)}/web-${ordinal}`));
  }

  claim(ordinal: number): string {
    return `${claims(this.namespace)}/data-web-${ordinal}`;
  }

  async revisions(): Promise<readonly (Body & { readonly revision: number })[]> {
    const { text } = await this.#world.wire.get(revisions(this.namespace));
    const list: { readonly items: readonly (Body & { readonly revision: number })[] } = JSON.parse(text);
    return list.items.toSorted((a, b) => a.revision - b.revision);
  }
}
