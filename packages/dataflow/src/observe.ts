import {
  type Cluster,
  ConfigMap,
  Deployment,
  type Known,
  keyOf,
  known,
  type ObjectRef,
  Pod,
  PodDisruptionBudget,
  ReplicaSet,
  Role,
  RoleBinding,
  Secret,
  ServiceAccount,
  unknown,
  type World,
} from '@polder/kube';
import type { ProcessorCounters, Reading } from './api/index.ts';
import type { DataFlow } from './kinds/index.ts';
import { namesOf, namespaceOf } from './objects/index.ts';
import { secretRefsIn } from './secret-refs.ts';
import type { SecretUsers } from './secret-users.ts';
import type { Settings } from './settings.ts';

/** Everything that a plan for a flow may depend on. */
export interface Observed {
  readonly children: Children;
  /** The ReplicaSets of its Deployment: each may make a pod at any moment for as long as it wants one. */
  readonly sets: readonly ReplicaSet[];
  /** Their pods, those that are about to end among them. */
  readonly pods: readonly Pod[];
  /** The Secrets that the spec refers to, as far as there are such, by `keyOf` their names. */
  readonly secrets: ReadonlyMap<string, Secret>;
  /** The image of processors whose flow names no other. */
  readonly image: Known<string>;
  /** What the processors counted. */
  readonly readings: readonly Reading[];
}

/** What there is under the names of a flow's objects, whoever it belongs to. */
export interface Children {
  readonly spec: ConfigMap | undefined;
  readonly secrets: Secret | undefined;
  readonly checkpoint: ConfigMap | undefined;
  readonly account: ServiceAccount | undefined;
  readonly role: Role | undefined;
  readonly binding: RoleBinding | undefined;
  readonly budget: PodDisruptionBudget | undefined;
  readonly deployment: Deployment | undefined;
}

/** The cluster, and the processors in it. */
export interface FlowWorld extends World {
  readonly counters: ProcessorCounters;
  readonly secretUsers: SecretUsers;
}

export async function observeFlow(flow: DataFlow, world: FlowWorld, settings: Settings): Promise<Observed> {
  const { cluster, signal } = world;
  const children = await childrenOf(flow, cluster);
  // By their owners, which is one look at an index each: to search a namespace would cost more with every flow in it.
  const sets = children.deployment ? await cluster.owned(ReplicaSet, children.deployment) : [];
  const pods = (await Promise.all(sets.map((set) => cluster.owned(Pod, set)))).flat();
  return {
    children,
    sets,
    pods,
    secrets: await secretsOf(flow, world),
    image: await imageOf(settings, cluster),
    readings: await world.counters.read(flow, pods, signal),
  };
}

async function childrenOf(flow: DataFlow, cluster: Cluster): Promise<Children> {
  const names = namesOf(flow);
  const at = (name: string): ObjectRef => ({ namespace: namespaceOf(flow), name });
  return {
    spec: await cluster.get(ConfigMap, at(names.spec)),
    secrets: await cluster.get(Secret, at(names.secrets)),
    checkpoint: await cluster.get(ConfigMap, at(names.checkpoint)),
    account: await cluster.get(ServiceAccount, at(names.access)),
    role: await cluster.get(Role, at(names.access)),
    binding: await cluster.get(RoleBinding, at(names.access)),
    budget: await cluster.get(PodDisruptionBudget, at(names.processor)),
    deployment: await cluster.get(Deployment, at(names.processor)),
  };
}

async function secretsOf(flow: DataFlow, { cluster, secretUsers }: FlowWorld): Promise<ReadonlyMap<string, Secret>> {
  const refs = secretRefsIn(flow.spec).map(({ namespace, name }) => ({
    namespace: namespace ?? namespaceOf(flow),
    name,
  }));
  // Before they are read: what changes from now on comes back to this flow.
  secretUsers.uses(flow.metadata, refs);
  const found = new Map<string, Secret>();
  for (const ref of refs) {
    const secret = await cluster.get(Secret, ref);
    if (secret) found.set(keyOf(ref), secret);
  }
  return found;
}

async function imageOf({ processorImage, operator }: Settings, cluster: Cluster): Promise<Known<string>> {
  if (processorImage !== undefined) return known(processorImage);
  if (operator === undefined) return unknown('neither PROCESSOR_IMAGE nor OPERATOR_DEPLOYMENT_NAME is set');
  const deployment = await cluster.get(Deployment, operator);
  const image = deployment?.spec?.template?.spec?.containers[0]?.image;
  if (image !== undefined) return known(image);
  return unknown(`PROCESSOR_IMAGE is not set, and there is no Deployment ${keyOf(operator)} to have the image of`);
}
