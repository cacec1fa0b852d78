import { pods } from '../contract/objects.ts';
import type { Body } from '../contract/wire.ts';
import { type NodeFields, Pen } from './pen.ts';
import type { Pod } from './pods.ts';
import { expect, topic } from './suite.ts';
import type { Workloads } from './workloads.ts';

type Fields = Readonly<Record<string, unknown>>;

const daemonSets = (namespace: string) => `/apis/apps/v1/namespaces/${namespace}/daemonsets`;
/** Of nodes, and of the taint on them, that only one case uses. */
const LABEL = 'contract.polder.io/pen';

const nodeAt = (name: string) => `/api/v1/nodes/${name}`;

const imageOf = ({ spec }: Pod) => spec.containers[0]?.image.split(':')[1];
const isGoing = ({ metadata }: Pod) => metadata.deletionTimestamp !== undefined;

/** A set on nodes of its own, whose pods the case drives. */
class DrivenDaemons {
  readonly namespace: string;
  readonly path: string;
  readonly nodes: readonly string[];
  readonly #world: Workloads;
  readonly #pen: Pen;
  readonly #pod: Fields;

  private constructor(world: Workloads, namespace: string, pen: Pen, nodes: readonly string[], podSpec: Fields) {
    this.namespace = namespace;
    this.path = `${daemonSets(namespace)}/agent`;
    this.nodes = nodes;
    this.#world = world;
    this.#pen = pen;
    // Nobody sends heartbeats for the nodes, so the controllers add taints of their own in time.
    this.#pod = { nodeSelector: pen.inside.nodeSelector, tolerations: [{ operator: 'Exists' }], ...podSpec };
  }

  static async open(
    world: Workloads,
    nodes: number,
    { podSpec = {}, ...spec }: Fields & { readonly podSpec?: Fields } = {},
  ): Promise<DrivenDaemons> {
    const pen = new Pen(world);
    const names = await Promise.all(Array.from({ length: nodes }, () => pen.node()));
    const set = new DrivenDaemons(world, await world.namespace(), pen, names.toSorted(), podSpec);
    await world.wire.must(
      world.wire.create(daemonSets(set.namespace), {
        apiVersion: 'apps/v1',
        kind: 'DaemonSet',
        metadata: { name: 'agent' },
        spec: { selector: { matchLabels: { app: 'agent' } }, template: set.#template('1'), ...spec },
      }),
    );
    return set;
  }

  /** The same, and all daemons are ready. */
  static async ready(world: Workloads, nodes: number, spec: Fields = {}): Promise<DrivenDaemons> {
    const set = await DrivenDaemons.open(world, nodes, spec);
    for (const node of set.nodes) await set.becomeReady(node);
    await set.reports({ numberReady: nodes, numberAvailable: nodes });
    return set;
  }

  #template(image: string): Fields {
    return {
      metadata: { labels: { app: 'agent' } },
      spec: { containers: [{ name: 'main', image: `example.com/main:${image}` }], ...this.#pod },
    };
  }

  /** Another node for the set to choose; gives its name. */
  node(fields: NodeFields = {}): Promise<string> {
    return this.#pen.node(fields);
  }

  get toleration() {
    return this.#pen.toleration;
  }

  change(spec: Fields): Promise<Body> {
    return this.#world.wire.must(this.#world.wire.patch('merge', this.path, { spec }));
  }

  /** Returns when the controller has seen the new template, and done what it would do at once. */
  async update(image: string): Promise<void> {
    const { metadata } = await this.change({ template: this.#template(image) });
    await this.reports({ observedGeneration: metadata.generation });
  }

  reports(status: Fields): Promise<Body> {
    return this.#world.becomes(this.path, { status });
  }

  daemons(): Promise<readonly Pod[]> {
    return this.#world.podsOf(this.namespace, 'app=agent');
  }

  /** `node image` of each daemon, and `going` if it is on its way out; by node. */
  async shown(): Promise<readonly string[]> {
    const words = (pod: Pod) => [pod.spec.nodeName ?? 'nowhere', imageOf(pod), ...(isGoing(pod) ? ['going'] : [])];
    return (await this.daemons()).map((pod) => words(pod).join(' ')).toSorted((a, b) => (a < b ? -1 : 1));
  }

  becomes(...shown: readonly string[]): Promise<void> {
    return this.#world.settles(async () => {
      expect(await this.shown()).toEqual(shown.toSorted((a, b) => (a < b ? -1 : 1)));
    });
  }

  /** Waits until there is one of the template on the node, and not on its way out. */
  daemon(node: string, image = '1'): Promise<Pod> {
    return this.#world.settles(async () => {
      const daemons = await this.daemons();
      const found = daemons.find((pod) => pod.spec.nodeName === node && imageOf(pod) === image && !isGoing(pod));
      if (!found) throw new Error(`no daemon of ${image} on ${node}`);
      return found;
    });
  }

  async becomeReady(node: string, image = '1'): Promise<void> {
    await this.#world.becomeReady(await this.daemon(node, image));
  }

  /** Waits until a daemon is being deleted there, and ends it; gives its node. */
  async end(): Promise<string> {
    const going = await this.#world.settles(async () => {
      const found = (await this.daemons()).find(isGoing);
      if (!found) throw new Error('no daemon is on its way out');
      return found;
    });
    await this.#world.finishDeletion(going);
    return going.spec.nodeName ?? '';
  }
}

export const daemons = topic('daemon sets', (promise) => {
  promise('have one daemon on every node they may be on', async (world) => {
    const set = await DrivenDaemons.open(world, 2);
    await set.becomes(...set.nodes.map((node) => `${node} 1`));
    const { status } = await set.reports({ currentNumberScheduled: 2, updatedNumberScheduled: 2 });
    expect(status).toEqual({
      desiredNumberScheduled: 2,
      currentNumberScheduled: 2,
      updatedNumberScheduled: 2,
      numberMisscheduled: 0,
      numberReady: 0,
      numberUnavailable: 2,
      observedGeneration: 1,
    });
    for (const node of set.nodes) await set.becomeReady(node);
    const ready = await set.reports({ numberReady: 2, numberAvailable: 2 });
    expect(ready.status).not.toHaveProperty('numberUnavailable');
    const another = await set.node();
    await set.daemon(another);
    await set.reports({ desiredNumberScheduled: 3 });
  });

  promise('ask the scheduler for that very node, and stay on it when it is in trouble', async (world) => {
    const tolerations = [{ key: LABEL, operator: 'Exists' }];
    const set = await DrivenDaemons.open(world, 1, { podSpec: { tolerations } });
    const [node = ''] = set.nodes;
    const daemon = await set.daemon(node);
    const exists = (key: string, effect: string) => ({ key: `node.kubernetes.io/${key}`, operator: 'Exists', effect });
    expect(daemon.spec['tolerations']).toEqual([
      ...tolerations,
      exists('not-ready', 'NoExecute'),
      exists('unreachable', 'NoExecute'),
      exists('disk-pressure', 'NoSchedule'),
      exists('memory-pressure', 'NoSchedule'),
      exists('pid-pressure', 'NoSchedule'),
      exists('unschedulable', 'NoSchedule'),
    ]);
    const nodeSelectorTerms = [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] }];
    expect(daemon.spec['affinity']).toEqual({
      nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } },
    });
    expect(daemon.metadata).toMatchObject({
      generateName: 'agent-',
      labels: { app: 'agent', 'controller-revision-hash': expect.any(String), 'pod-template-generation': '1' },
      ownerReferences: [{ kind: 'DaemonSet', name: 'agent', controller: true, blockOwnerDeletion: true }],
    });
  });

  promise('come to a node that takes no other pods', async (world) => {
    const { wire, fresh, becomes } = world;
    const nodeSelector = { 'contract.polder.io/chosen': fresh('chosen') };
    const tolerations = [{ key: LABEL, operator: 'Exists' }];
    const set = await DrivenDaemons.open(world, 1, { podSpec: { nodeSelector, tolerations } });
    const [node = ''] = set.nodes;
    await wire.must(wire.patch('merge', nodeAt(node), { spec: { unschedulable: true } }));
    const taint = expect.objectContaining({ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' });
    await becomes(nodeAt(node), { spec: { taints: expect.arrayContaining([taint]) } });
    expect(await set.shown()).toEqual([]);
    await wire.must(wire.patch('merge', nodeAt(node), { metadata: { labels: nodeSelector } }));
    await set.daemon(node);
  });

  promise('follow the labels of nodes', async (world) => {
    const { wire } = world;
    const set = await DrivenDaemons.ready(world, 2);
    const [one = '', two = ''] = set.nodes;
    await wire.must(wire.patch('merge', nodeAt(one), { metadata: { labels: { [LABEL]: 'elsewhere' } } }));
    await set.becomes(`${one} 1 going`, `${two} 1`);
    await set.reports({ desiredNumberScheduled: 1, numberMisscheduled: 1 });
    await set.end();
    await set.reports({ desiredNumberScheduled: 1, numberMisscheduled: 0 });
    await wire.must(wire.patch('merge', nodeAt(one), { metadata: { labels: { [LABEL]: set.toleration.value } } }));
    await set.daemon(one);
  });

  promise('stay on a node that gets a taint, unless it drives pods out', async (world) => {
    const { wire } = world;
    const tolerations = [{ key: LABEL, operator: 'Exists' }];
    const set = await DrivenDaemons.ready(world, 2, { podSpec: { tolerations } });
    const [one = '', two = ''] = set.nodes;
    const taint = (effect: string) => ({
      spec: {
        taints: [
          { ...set.toleration, effect: 'NoSchedule' },
          { key: 'gpu', effect },
        ],
      },
    });
    await wire.must(wire.patch('merge', nodeAt(one), taint('NoSchedule')));
    await wire.must(wire.patch('merge', nodeAt(two), taint('NoExecute')));
    await set.becomes(`${one} 1`, `${two} 1 going`);
    await set.reports({ desiredNumberScheduled: 0, numberMisscheduled: 2 });
  });

  promise('replace a daemon that has ended, however it ended', async (world) => {
    const set = await DrivenDaemons.ready(world, 1);
    const [node = ''] = set.nodes;
    const failed = await set.daemon(node);
    await world.fail(failed);
    await world.gone(`${pods(set.namespace)}/${failed.metadata.name}`);
    const succeeded = await set.daemon(node);
    await world.succeed(succeeded);
    await world.gone(`${pods(set.namespace)}/${succeeded.metadata.name}`);
    await set.daemon(node);
    const found = ({ metadata }: Pod) => `daemon pod ${set.namespace}/${metadata.name} on node ${node}`;
    await world.recorded(set.namespace, 'agent', {
      type: 'Warning',
      reason: 'FailedDaemonPod',
      message: `Found failed ${found(failed)}, will try to kill it`,
    });
    await world.recorded(set.namespace, 'agent', {
      type: 'Normal',
      reason: 'SucceededDaemonPod',
      message: `Found succeeded ${found(succeeded)}, will try to delete it`,
    });
    await world.recorded(set.namespace, 'agent', {
      reason: 'SuccessfulDelete',
      message: `Deleted pod: ${failed.metadata.name}`,
    });
  });
});

export const daemonUpdates = topic('updates of daemon sets', (promise) => {
  const rolling = (rollingUpdate: Fields) => ({ updateStrategy: { type: 'RollingUpdate', rollingUpdate } });

  promise('replace one daemon at a time, each once the one before it is ready', async (world) => {
    const set = await DrivenDaemons.ready(world, 2);
    await set.update('2');
    const first = await set.end();
    expect((await set.daemon(first, '2')).metadata.labels).toMatchObject({ 'pod-template-generation': '2' });
    await set.reports({ updatedNumberScheduled: 1, numberAvailable: 1, numberUnavailable: 1 });
    const second = set.nodes.find((node) => node !== first) ?? '';
    await set.becomes(`${first} 2`, `${second} 1`);
    await set.becomeReady(first, '2');
    expect(await set.end()).toBe(second);
    await set.becomeReady(second, '2');
    await set.reports({ updatedNumberScheduled: 2, numberAvailable: 2 });
  });

  promise('replace as many at once as may be missing, a part of them rounded up', async (world) => {
    const set = await DrivenDaemons.ready(world, 3, rolling({ maxUnavailable: '50%' }));
    await set.update('2');
    await world.settles(async () => expect((await set.daemons()).filter(isGoing)).toHaveLength(2));
    const ended = [await set.end(), await set.end()];
    for (const node of ended) await set.daemon(node, '2');
    expect(new Set(ended).size).toBe(2);
    await set.reports({ updatedNumberScheduled: 2, numberUnavailable: 2 });
    expect((await set.daemons()).filter(isGoing)).toEqual([]);
  });

  promise('replace a daemon that does not work without counting it', async (world) => {
    const set = await DrivenDaemons.ready(world, 3);
    const [one = '', two = '', three = ''] = set.nodes;
    for (const node of [one, two]) await world.becomeUnready(await set.daemon(node));
    await set.reports({ numberAvailable: 1 });
    await set.update('2');
    await set.becomes(`${one} 1 going`, `${two} 1 going`, `${three} 1`);
  });

  promise('with a surge start the new daemon first, and end the old one when it is ready', async (world) => {
    const set = await DrivenDaemons.ready(world, 2, rolling({ maxSurge: 1, maxUnavailable: 0 }));
    await set.update('2');
    await world.settles(async () => expect(await set.daemons()).toHaveLength(3));
    const first = await world.settles(async () => {
      const found = (await set.daemons()).find((pod) => imageOf(pod) === '2');
      if (found?.spec.nodeName === undefined) throw new Error('the new daemon has no node');
      return found.spec.nodeName;
    });
    const second = set.nodes.find((node) => node !== first) ?? '';
    await set.becomes(`${first} 1`, `${first} 2`, `${second} 1`);
    await set.becomeReady(first, '2');
    await set.becomes(`${first} 1 going`, `${first} 2`, `${second} 1`, `${second} 2`);
    expect(await set.end()).toBe(first);
    await set.becomeReady(second, '2');
    expect(await set.end()).toBe(second);
    await set.becomes(`${first} 2`, `${second} 2`);
    await set.reports({ updatedNumberScheduled: 2, numberAvailable: 2 });
  });

  promise('wait for the user to delete daemons if that is what they want', async (world) => {
    const set = await DrivenDaemons.ready(world, 2, { updateStrategy: { type: 'OnDelete' } });
    const [one = '', two = ''] = set.nodes;
    await set.update('2');
    await set.becomes(`${one} 1`, `${two} 1`);
    const { metadata } = await set.daemon(one);
    await world.wire.must(world.wire.delete(`${pods(set.namespace)}/${metadata.name}`));
    await set.end();
    await set.becomes(`${one} 2`, `${two} 1`);
    await set.reports({ updatedNumberScheduled: 1 });
  });

  promise('record each template, and going back takes up its old record', async (world) => {
    const set = await DrivenDaemons.open(world, 0);
    const recorded = async () => {
      const { text } = await world.wire.get(`/apis/apps/v1/namespaces/${set.namespace}/controllerrevisions`);
      const list: { readonly items: readonly (Body & { readonly revision: number })[] } = JSON.parse(text);
      return list.items.toSorted((a, b) => a.revision - b.revision);
    };
    await set.reports({ observedGeneration: 1 });
    const [first] = await recorded();
    const { name = '' } = first?.metadata ?? {};
    expect(first).toMatchObject({
      revision: 1,
      metadata: {
        labels: { app: 'agent', 'controller-revision-hash': name.slice('agent-'.length) },
        ownerReferences: [{ kind: 'DaemonSet', name: 'agent', controller: true }],
      },
      data: { spec: { template: { $patch: 'replace', metadata: { labels: { app: 'agent' } } } } },
    });
    await set.update('2');
    await set.update('1');
    const [, last] = await recorded();
    expect((await recorded()).map(({ revision }) => revision)).toEqual([2, 3]);
    expect(last?.metadata.name).toBe(name);
  });
});
