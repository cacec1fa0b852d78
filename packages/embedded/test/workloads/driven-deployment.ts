import { deployment, deployments } from '../contract/objects.ts';
import { expect } from '../contract/suite.ts';
import type { Body } from '../contract/wire.ts';
import { onDrivenNode, type Pod } from './pods.ts';
import type { Workloads } from './workloads.ts';

type Fields = Readonly<Record<string, unknown>>;

/** `v2`: which revision of the template an object belongs to. */
type Version = string;

interface ReplicaSet extends Body {
  readonly spec: {
    readonly replicas: number;
    readonly template: { readonly spec: { readonly containers: readonly { readonly image: string }[] } };
    readonly [field: string]: unknown;
  };
}

const IMAGE = 'example.com/main:';

/** The template of a version, on the node where the case plays the kubelet unless `spec` says otherwise. */
export const template = (version: Version, spec: Fields = onDrivenNode) => ({
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'main', image: `${IMAGE}${version}` }], ...spec },
});

export const limits = (maxSurge: number | string, maxUnavailable: number | string) => ({
  strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } },
});

/** One deployment, `web`, in a namespace of its own, and its way from version to version. */
export class DrivenDeployment {
  readonly #world: Workloads;
  readonly namespace: string;

  constructor(world: Workloads, namespace: string) {
    this.#world = world;
    this.namespace = namespace;
  }

  /** Begins with version `v1`. */
  static async start(world: Workloads, spec: Fields = {}, metadata: Fields = {}): Promise<DrivenDeployment> {
    const rollout = new DrivenDeployment(world, await world.namespace());
    await rollout.create({ template: template('v1'), ...spec }, metadata);
    return rollout;
  }

  create = (spec: Fields, metadata: Fields = {}): Promise<Body> =>
    this.#world.wire.must(this.#world.wire.create(deployments(this.namespace), deployment('web', spec, metadata)));

  get path(): string {
    return `${deployments(this.namespace)}/web`;
  }

  get setsPath(): string {
    return `/apis/apps/v1/namespaces/${this.namespace}/replicasets`;
  }

  change = (patch: Fields): Promise<Body> => this.#world.wire.must(this.#world.wire.patch('merge', this.path, patch));

  /** Asks for another version. */
  update = (version: Version, spec: Fields = {}): Promise<Body> =>
    this.change({ spec: { template: { spec: { containers: template(version).spec.containers } }, ...spec } });

  becomes = (like: Fields): Promise<Body> => this.#world.becomes(this.path, like);

  /** Waits for exactly this status; conditions are compared by type, status and reason, and times not at all. */
  statusBecomes = (counts: Fields, ...conditions: readonly string[]): Promise<void> =>
    this.#world.settles(async () => {
      const { text } = await this.#world.wire.get(this.path);
      const { status }: { readonly status: DeploymentStatus } = JSON.parse(text);
      const { conditions: actual = [], ...rest } = status;
      expect(rest).toEqual(counts);
      const summaries = actual.map(({ type, status, reason }) => `${type} ${status} ${reason}`);
      expect(summaries.toSorted()).toEqual(conditions.toSorted());
    });

  sets = async (): Promise<readonly ReplicaSet[]> => {
    const { text } = await this.#world.wire.get(this.setsPath);
    const { items }: { readonly items: readonly ReplicaSet[] } = JSON.parse(text);
    return items;
  };

  /** Waits for the set of a version. */
  set = (version: Version): Promise<ReplicaSet> =>
    this.#world.settles(async () => {
      const sets = await this.sets();
      const found = sets.find((one) => versionOf(one.spec.template) === version);
      if (!found)
        throw new Error(`no replica set of ${version} among ${sets.map((one) => one.metadata.name).join(', ')}`);
      return found;
    });

  /** Waits until the sets have these sizes. */
  sizesBecome = (sizes: Readonly<Record<Version, number>>): Promise<void> =>
    this.#world.settles(async () => {
      const sets = await this.sets();
      expect(Object.fromEntries(sets.map((set) => [versionOf(set.spec.template), set.spec.replicas]))).toEqual(sizes);
    });

  /** Waits for so many pods of a version that are not on their way out. */
  pods = (version: Version, count: number): Promise<readonly Pod[]> =>
    this.#world.settles(async () => {
      const all = await this.#world.podsOf(this.namespace, 'app=web');
      const found = all.filter(
        ({ metadata, spec }) => metadata.deletionTimestamp === undefined && versionOf({ spec }) === version,
      );
      expect(
        found.map((one) => one.metadata.name),
        `pods of ${version}`,
      ).toHaveLength(count);
      for (const { spec, metadata } of found) expect(spec.nodeName, `the node of ${metadata.name}`).toBeDefined();
      return found;
    });

  /** Waits for so many pods of a version, and makes so many of them ready (all, if not said). */
  ready = async (version: Version, count: number, most = count): Promise<void> => {
    const found = await this.pods(version, count);
    for (const one of found.slice(0, most)) await this.#world.becomeReady(one);
  };

  /** Waits for so many pods on their way out, and lets them go. */
  finish = async (count: number): Promise<readonly Pod[]> => {
    const going = await this.going(count);
    for (const one of going) await this.#world.finishDeletion(one);
    return going;
  };

  /** Waits for so many pods on their way out. */
  going = (count: number): Promise<readonly Pod[]> =>
    this.#world.settles(async () => {
      const all = await this.#world.podsOf(this.namespace, 'app=web');
      const going = all.filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
      expect(
        going.map((one) => one.metadata.name),
        'pods on their way out',
      ).toHaveLength(count);
      return going;
    });

  /** Waits until exactly these scalings have been told of, in any order: `up v1 from 0 to 3`. */
  toldOf = (...scalings: readonly string[]): Promise<void> =>
    this.#world.settles(async () => {
      const sets = await this.sets();
      const { text } = await this.#world.wire.get(`/api/v1/namespaces/${this.namespace}/events`);
      const { items }: { readonly items: readonly Event[] } = JSON.parse(text);
      const told = items
        .filter(({ reason, involvedObject }) => reason === 'ScalingReplicaSet' && involvedObject.kind === 'Deployment')
        .map(({ message }) => {
          const [, direction = '', name = '', numbers = ''] =
            /^Scaled (up|down) replica set (\S+) (.*)$/.exec(message) ?? [];
          const set = sets.find((one) => one.metadata.name === name);
          return set ? `${direction} ${versionOf(set.spec.template)} ${numbers}` : message;
        });
      expect(told.toSorted()).toEqual(scalings.toSorted());
    });
}

interface DeploymentStatus {
  readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason: string }[];
  readonly [field: string]: unknown;
}

interface Event {
  readonly reason: string;
  readonly message: string;
  readonly involvedObject: { readonly kind: string };
}

/** From the image of its first container. */
function versionOf({
  spec,
}: {
  readonly spec: { readonly containers: readonly { readonly image: string }[] };
}): Version {
  return spec.containers[0]?.image.slice(IMAGE.length) ?? '';
}
