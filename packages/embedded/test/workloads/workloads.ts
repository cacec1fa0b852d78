import { vi } from 'vitest';
import { pod, pods } from '../contract/objects.ts';
import { expect } from '../contract/suite.ts';
import type { Body, Wire } from '../contract/wire.ts';
import { type CustomResource, type CustomResourceOptions, World } from '../contract/world.ts';
import {
  type Container,
  DRIVEN_NODE,
  onDrivenNode,
  type Pod,
  type PodStatus,
  readyStatus,
  terminatedStatus,
} from './pods.ts';

export interface PodFields {
  readonly labels?: Readonly<Record<string, string>>;
  readonly spec?: Readonly<Record<string, unknown>>;
}

/**
 * What a case about controllers stands on. Pods that nobody places come to life by themselves, on simulated nodes. Pods placed
 * with `onDrivenNode` do nothing at all: there the case is the kubelet, and so drives a rollout step by step.
 */
export class Workloads extends World {
  /** How long the controllers may take for anything, in milliseconds. */
  readonly patience: number;
  readonly #addresses = new Map<string, string>();

  constructor(wire: Wire, patience: number) {
    super(wire);
    this.patience = patience;
  }

  /** Makes the node that no kubelet runs; once, before the first case. */
  open = async (): Promise<this> => {
    await this.wire.must(this.wire.create('/api/v1/nodes', DRIVEN_NODE));
    return this;
  };

  /** A new namespace that takes pods. */
  override namespace = async (): Promise<string> => {
    const name = this.fresh('workloads');
    await this.wire.must(this.wire.create('/api/v1/namespaces', { metadata: { name } }));
    // Pods are refused until a controller has made it.
    await this.becomes(`/api/v1/namespaces/${name}/serviceaccounts/default`, {});
    return name;
  };

  /** A new custom resource that is not only served: the controllers, who learn of kinds in their own time, know it too. */
  knownCustomResource = async (namespace: string, options: CustomResourceOptions = {}): Promise<CustomResource> => {
    const resource = await this.customResource(options);
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'nobody', uid: crypto.randomUUID() }];
    const stray = resource.widget('stray', { metadata: { name: 'stray', ownerReferences } });
    await this.wire.must(this.wire.create(resource.collection(namespace), stray));
    // Whoever collects it has seen it.
    await this.gone(`${resource.collection(namespace)}/stray`);
    return resource;
  };

  /** Waits until the object is there and looks like this. */
  becomes = (path: string, like: Readonly<Record<string, unknown>>): Promise<Body> =>
    this.settles(async () => {
      const { status, body } = await this.wire.get(path);
      if (status !== 200) throw new Error(`GET ${path}: ${status} ${body.message}`);
      expect(body).toMatchObject(like);
      return body;
    });

  /** Waits until the object is no more. */
  gone = (path: string): Promise<void> =>
    this.settles(async () => {
      const { status, text } = await this.wire.get(path);
      if (status !== 404) throw new Error(`GET ${path}: still there: ${status} ${text}`);
    });

  /** Waits until an event about the object says this. */
  recorded = (namespace: string, name: string, like: Readonly<Record<string, unknown>>): Promise<void> =>
    this.settles(async () => {
      const query = `fieldSelector=involvedObject.name%3D${name}`;
      const { body } = await this.wire.get(`/api/v1/namespaces/${namespace}/events?${query}`);
      expect(body.items).toEqual(expect.arrayContaining([expect.objectContaining(like)]));
    });

  /** Looks again until looking does not fail; in the end its last failure is the case's. */
  settles = <T>(look: () => Promise<T>): Promise<T> => vi.waitFor(look, { timeout: this.patience, interval: 50 });

  /** The pods with these labels (`app=web`), by name. */
  podsOf = async (namespace: string, selector: string): Promise<readonly Pod[]> => {
    const query = `labelSelector=${encodeURIComponent(selector)}`;
    const { text } = await this.wire.get(`/api/v1/namespaces/${namespace}/pods?${query}`);
    const list: { readonly items: readonly Pod[] } = JSON.parse(text);
    return list.items.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  };

  /** Waits until there are so many pods with these labels, those on their way out included. */
  podsBecome = (namespace: string, selector: string, count: number): Promise<readonly Pod[]> =>
    this.settles(async () => {
      const found = await this.podsOf(namespace, selector);
      const names = found.map((pod) => pod.metadata.name);
      expect(names, `pods with ${selector}`).toHaveLength(count);
      return found;
    });

  /** The pod as it is now. */
  pod = async (namespace: string, name: string): Promise<Pod> => {
    const { status, text } = await this.wire.get(`/api/v1/namespaces/${namespace}/pods/${name}`);
    if (status !== 200) throw new Error(`no pod ${name}: ${status} ${text}`);
    const pod: Pod = JSON.parse(text);
    return pod;
  };

  /** Waits until the scheduler has given the pod a node. */
  scheduled = (namespace: string, name: string): Promise<Pod> =>
    this.settles(async () => {
      const pod = await this.pod(namespace, name);
      expect(pod.spec.nodeName, `the node of ${name}`).toBeDefined();
      return pod;
    });

  /** A new pod, on the driven node. */
  place = async (namespace: string, name: string, fields: PodFields = {}): Promise<Pod> => {
    const body = pod(name, { ...fields.spec, ...onDrivenNode }, { labels: fields.labels });
    await this.wire.must(this.wire.create(pods(namespace), body));
    return this.scheduled(namespace, name);
  };

  // What a kubelet does, for pods on the driven node.

  /** All containers run and are ready. */
  becomeReady = async (pod: Pod): Promise<Pod> => this.report(pod, readyStatus(pod, true, this.#address(pod)));

  /** All containers run, and none is ready (any more). */
  becomeUnready = async (pod: Pod): Promise<Pod> => this.report(pod, readyStatus(pod, false, this.#address(pod)));

  /** All containers have ended well, for good. */
  succeed = (pod: Pod): Promise<Pod> =>
    this.report(
      pod,
      terminatedStatus(pod, 'Succeeded', () => 0),
    );

  /** The containers have ended badly, for good. `exitCode` tells what each of them ended with. */
  fail = (pod: Pod, exitCode: (container: Container) => number = () => 1): Promise<Pod> =>
    this.report(pod, terminatedStatus(pod, 'Failed', exitCode));

  /** Anything else a kubelet may say; conditions and containers are merged with those that are there. */
  report = async (pod: Pod, status: PodStatus): Promise<Pod> => {
    const path = `/api/v1/namespaces/${pod.metadata.namespace}/pods/${pod.metadata.name}/status`;
    const answer = await this.wire.patch('strategic', path, { metadata: { uid: pod.metadata.uid }, status });
    if (answer.status !== 200) throw new Error(`the status of ${pod.metadata.name}: ${answer.status} ${answer.text}`);
    const reported: Pod = JSON.parse(answer.text);
    return reported;
  };

  /** Waits until the pod is being deleted: now its kubelet would end its containers. */
  becomesGoing = ({ metadata: { namespace, name } }: Pod): Promise<Body> =>
    this.becomes(`${pods(namespace)}/${name}`, { metadata: { deletionTimestamp: expect.any(String) } });

  /** Its containers have ended: a pod that is being deleted goes now. */
  finishDeletion = async (pod: Pod): Promise<void> => {
    const path = `/api/v1/namespaces/${pod.metadata.namespace}/pods/${pod.metadata.name}`;
    await this.wire.must(this.wire.delete(path, { gracePeriodSeconds: 0, preconditions: { uid: pod.metadata.uid } }));
  };

  /** Of a pod, the same whenever it is asked for. */
  #address({ metadata: { uid } }: Pod): string {
    const number = this.#addresses.size + 1;
    const address = this.#addresses.get(uid) ?? `10.200.${number >> 8}.${number & 255}`;
    this.#addresses.set(uid, address);
    return address;
  }
}
