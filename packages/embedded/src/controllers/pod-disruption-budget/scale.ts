import {
  type Client,
  Deployment,
  isNotFound,
  type Kind,
  type KubernetesObject,
  type OwnerReference,
  type Pod,
  ReplicaSet,
  ReplicationController,
  resourceNameOf,
  StatefulSet,
  type World,
} from '@polder/kube';
import type { ServedKind } from '../../apiserver/index.ts';
import type { FindKind } from '../kind-finder.ts';

export interface DisruptionWorld extends World {
  readonly client: Client;
  readonly findKind: FindKind<ServedKind>;
}

/** How many pods there should be, by those who make them. */
export interface ExpectedScale {
  readonly count: number;
  /** Pods that nobody makes: they are not in the count. */
  readonly unmanaged: readonly string[];
}

interface Scaled {
  readonly uid: string;
  readonly replicas: number;
}

/** Asks each controller of the pods once. Fails if one of them can't say how many it wants. */
export async function expectedScale(pods: readonly Pod[], world: DisruptionWorld): Promise<ExpectedScale> {
  const unmanaged: string[] = [];
  const asked = new Set<string>();
  const scales = new Map<string, number>();
  for (const { metadata } of pods) {
    const controller = controllerOf(metadata);
    if (controller === undefined) unmanaged.push(metadata.name);
    else if (!asked.has(controller.uid)) {
      asked.add(controller.uid);
      const scaled = await scaleOf(controller, metadata.namespace ?? '', world);
      if (scaled === undefined) throw new Error(`found no controllers for pod ${JSON.stringify(metadata.name)}`);
      // Several ReplicaSets may belong to one Deployment, which counts once.
      scales.set(scaled.uid, scaled.replicas);
    }
  }
  return { count: [...scales.values()].reduce((sum, replicas) => sum + replicas, 0), unmanaged };
}

const controllerOf = ({ ownerReferences = [] }: KubernetesObject['metadata']) =>
  ownerReferences.find(({ controller }) => controller);

async function scaleOf(owner: OwnerReference, namespace: string, world: DisruptionWorld): Promise<Scaled | undefined> {
  if (isOf(owner, ReplicaSet)) {
    const set = await cached(ReplicaSet, owner, namespace, world);
    const above = set && controllerOf(set.metadata);
    if (above && isOf(above, Deployment)) {
      const deployment = await cached(Deployment, above, namespace, world);
      if (deployment) return scaledAs(deployment);
    } else if (set) return scaledAs(set);
  }
  for (const kind of [StatefulSet, ReplicationController]) {
    if (!isOf(owner, kind)) continue;
    const object = await cached<StatefulSet | ReplicationController>(kind, owner, namespace, world);
    if (object) return scaledAs(object);
  }
  return askForScale(owner, namespace, world);
}

const isOf = ({ apiVersion, kind }: OwnerReference, { group, kind: name }: Kind) =>
  kind === name && (apiVersion.split('/').at(-2) ?? '') === group;

async function cached<T extends KubernetesObject>(
  kind: Kind<T>,
  { name, uid }: OwnerReference,
  namespace: string,
  { cluster }: DisruptionWorld,
): Promise<T | undefined> {
  const object = await cluster.get(kind, { name, namespace });
  return object?.metadata.uid === uid ? object : undefined;
}

const scaledAs = ({ metadata, spec }: KubernetesObject & { readonly spec?: { readonly replicas?: number } }) => ({
  uid: metadata.uid ?? '',
  replicas: spec?.replicas ?? 1,
});

/** Whatever can be scaled says so in the same way. */
async function askForScale(
  { apiVersion, kind: name, name: owner, uid }: OwnerReference,
  namespace: string,
  { client, findKind, signal }: DisruptionWorld,
): Promise<Scaled | undefined> {
  const kind = findKind(apiVersion, name);
  if (kind === undefined)
    throw new Error(`no matches for kind ${JSON.stringify(name)} in version ${JSON.stringify(apiVersion)}`);
  if (kind.subresources.scale === undefined) {
    throw new Error(`${resourceNameOf(kind)} does not implement the scale subresource`);
  }
  try {
    const { metadata, spec } = await client.getScale(kind, { name: owner, namespace }, { signal });
    return metadata.uid === uid ? { uid, replicas: spec?.replicas ?? 0 } : undefined;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
