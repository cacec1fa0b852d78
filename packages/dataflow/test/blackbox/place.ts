import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  Client,
  CustomResourceDefinition,
  crdOf,
  Deployment,
  isNotFound,
  type KubernetesObject,
  kubeconfig,
  Namespace,
  Pod,
  ReplicaSet,
  Secret,
  ServiceAccount,
  socketTransport,
} from '@polder/kube';
import { vi } from 'vitest';
import { DataFlow } from '../../src/index.ts';
import { kinds } from '../fields.ts';
import { PASSWORD } from '../world.ts';
import { OperatorProcess } from './operator-process.ts';

/** A cluster whose pods are simulated. */
export interface ClusterUnderTest {
  /** The path of a kubeconfig of its administrator. */
  readonly kubeconfig: string;
  /** How long anything may take there, in milliseconds. */
  readonly patience: number;
  stop(): Promise<void>;
}

/** Simulated processors count nothing, and nobody is at their addresses: there they refuse at once. */
const CONFIG = `
intervals:
  operator: {leaseDuration: 5s, leaseRenewDeadline: 4s, leaseRetryPeriod: 500ms}
resolve: {"*:9090": "127.0.0.1:1"}
`;

const AS_USER = { fieldManager: 'user', force: true };
const IMAGE = 'example.com/processor:1';

/** A namespace, and the operators that look after it and nothing else. */
export class Place {
  readonly namespace: string;
  readonly client: Client;
  readonly patience: number;
  readonly #kubeconfig: string;
  readonly #folder = mkdtempSync(join(tmpdir(), 'polder-blackbox-'));
  readonly #operators: OperatorProcess[] = [];

  private constructor(cluster: ClusterUnderTest, client: Client, namespace: string) {
    this.#kubeconfig = cluster.kubeconfig;
    this.patience = cluster.patience;
    this.client = client;
    this.namespace = namespace;
    writeFileSync(this.#config, CONFIG);
  }

  static async open(cluster: ClusterUnderTest, namespace: string): Promise<Place> {
    const transport = socketTransport(await kubeconfig([cluster.kubeconfig]));
    const place = new Place(cluster, new Client({ transport, userAgent: 'blackbox' }), namespace);
    await place.client.apply(CustomResourceDefinition, crdOf(DataFlow), AS_USER);
    await place.client.create(Namespace, { metadata: { name: namespace } });
    // Pods are refused until a controller has made it, and flows until the server has taken their kind in.
    await place.settles(() => place.client.get(ServiceAccount, place.at('default')));
    await place.settles(() => place.client.list(DataFlow, { namespace }));
    return place;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const operator of this.#operators) await operator.end('SIGKILL');
    await this.client.delete(Namespace, { name: this.namespace });
    await this.client.close();
    rmSync(this.#folder, { recursive: true });
  }

  /** Starts one, and waits until it is at work; or, where another leads, ready to be. */
  async operator(env: NodeJS.ProcessEnv = { PROCESSOR_IMAGE: IMAGE }, ...more: string[]): Promise<OperatorProcess> {
    const cluster = ['--kubeconfig', this.#kubeconfig, '--namespace', this.namespace, '--config', this.#config];
    const anyPort = ['--metrics-bind-address', ':0', '--health-probe-bind-address', ':0'];
    const operator = new OperatorProcess([...cluster, ...anyPort, ...more], {
      OPERATOR_NAMESPACE: this.namespace,
      ...env,
    });
    this.#operators.push(operator);
    await operator.says(/serving metrics/, this.patience);
    return operator;
  }

  /** Looks again until looking does not fail; in the end its last failure is the case's. */
  settles = <T>(look: () => Promise<T>): Promise<T> => vi.waitFor(look, { timeout: this.patience, interval: 20 });

  at = (name: string) => ({ namespace: this.namespace, name });

  apply = (name: string, spec: object): Promise<DataFlow> =>
    this.client.apply(DataFlow, { metadata: this.at(name), spec: { ...spec } }, AS_USER);

  putSecret = (url: string): Promise<Secret> =>
    this.client.apply(
      Secret,
      { metadata: this.at(PASSWORD.name), data: { url: Buffer.from(url).toString('base64') } },
      AS_USER,
    );

  putDeployment = (name: string, image: string): Promise<Deployment> => {
    const labels = { app: name };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image }] } };
    const spec = { selector: { matchLabels: labels }, template };
    return this.client.apply(Deployment, { metadata: this.at(name), spec }, AS_USER);
  };

  /** Waits until the flow was looked at as it is now, and all is as it should be. */
  settled = (name: string): Promise<DataFlow> =>
    this.settles(async () => {
      const flow = await this.client.get(DataFlow, this.at(name));
      const { metadata, status } = flow;
      const ready = status?.conditions?.find(({ type }) => type === 'Ready');
      if (status?.observedGeneration === metadata.generation && ready?.status === 'True') return flow;
      throw new Error(`${name} is not settled: ${JSON.stringify(flow)}`);
    });

  podsOf = async (name: string): Promise<readonly Pod[]> => {
    const labelSelector = `dataflow.dataflow.io/name=${name}`;
    return (await this.client.list(Pod, { namespace: this.namespace, labelSelector })).items;
  };

  /** Waits until the one pod of the flow is another than this one, if any is given. */
  onePodOf = (name: string, before?: Pod): Promise<Pod> =>
    this.settles(async () => {
      const pods = await this.podsOf(name);
      const [pod] = pods;
      if (pod && pods.length === 1 && pod.metadata.uid !== before?.metadata.uid) return pod;
      throw new Error(`the pods of ${name} are ${pods.map(({ metadata }) => metadata.name).join(', ') || 'none'}`);
    });

  /** Everything that was made for the flow, as `kind/name`. */
  objectsOf = async (name: string): Promise<readonly string[]> => {
    const select = { namespace: this.namespace, labelSelector: `dataflow.dataflow.io/name=${name}` };
    const lists = await Promise.all([...kinds, ReplicaSet, Pod].map((kind) => this.client.list(kind, select)));
    return lists.flatMap(({ items }) => items.map(nameOf)).toSorted();
  };

  /** The object, unless there is none. */
  deploymentOf = async (name: string): Promise<Deployment | undefined> => {
    try {
      return await this.client.get(Deployment, this.at(`dataflow-${name}`));
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  };

  get #config(): string {
    return join(this.#folder, 'operator.yaml');
  }
}

const nameOf = ({ kind, metadata }: KubernetesObject) => `${kind}/${metadata.name}`;
