import { Deployment, isNotFound, type KubernetesObject, Pod, ReplicaSet, Secret } from '@polder/kube';
import type { ClusterUnderTest } from '../../../../tools/blackbox/clusters.ts';
import { AS_USER, clientOf, Place } from '../../../../tools/blackbox/place.ts';
import { DataFlow } from '../../src/index.ts';
import { kinds } from '../kinds.ts';
import { PASSWORD } from '../world.ts';

/** Simulated processors count nothing, and nobody is at their addresses: there they refuse at once. */
const CONFIG = `
intervals:
  operator: {leaseDuration: 5s, leaseRenewDeadline: 4s, leaseRetryPeriod: 500ms}
resolve: {"*:9090": "127.0.0.1:1"}
`;

const OPTIONS = {
  product: 'dataflow',
  kinds: [DataFlow],
  config: CONFIG,
  env: { PROCESSOR_IMAGE: 'example.com/processor:1' },
};

/** Where flows are made. */
export class FlowPlace extends Place {
  static async open(cluster: ClusterUnderTest, namespace: string): Promise<FlowPlace> {
    return new FlowPlace(cluster, await clientOf(cluster), namespace, OPTIONS).prepare();
  }

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
}

const nameOf = ({ kind, metadata }: KubernetesObject) => `${kind}/${metadata.name}`;
