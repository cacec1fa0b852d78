import {
  ConfigMap,
  type Happening,
  type Known,
  known,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  Secret,
  unknown,
  type World,
} from '@polder/kube';
import type { ContainerRun } from './container-run.ts';
import { type Kubelet, sameVolumes } from './kubelet.ts';
import { containersOf } from './pod-spec.ts';
import { type Facts, type References, volumesOf } from './references/index.ts';
import type { Volume } from './runner.ts';

/** What the kubelet knows of a pod when it decides. */
export interface Observed {
  /** Undefined: the pod is not on one of our nodes, and nothing of it concerns us. */
  readonly node: { readonly name: string; readonly address: string } | undefined;
  /** By the names of containers, init containers among them. */
  readonly runs: ReadonlyMap<string, ContainerRun>;
  /** A run of an earlier pod of this name that has not ended yet: two of one identity must never run at once. */
  readonly isPredecessorRunning: boolean;
  readonly runner: string;
  /** The volumes with their contents, or what is missing of them. */
  readonly volumes: Known<readonly Volume[]>;
  /** Whether these volumes are in place, with these contents. */
  readonly isPrepared: boolean;
  /** Whether its volumes are in place, perhaps with older contents: what was deleted since does not stop a pod. */
  readonly hasVolumes: boolean;
  readonly references: References;
  readonly facts: Facts;
  readonly address: string | undefined;
  /** What happened since the last pass that users should hear of. */
  readonly news: readonly Happening[];
}

export interface KubeletWorld extends World {
  readonly kubelet: Kubelet;
  /** The names of the nodes whose pods run here. */
  readonly nodes: ReadonlySet<string>;
}

export async function observe(pod: Pod, { cluster, kubelet, nodes }: KubeletWorld): Promise<Observed> {
  const name = pod.spec?.nodeName ?? '';
  if (!nodes.has(name)) return ELSEWHERE;
  const node = await cluster.get(Node, { name });
  const address = node?.status?.addresses?.find(({ type }) => type === 'InternalIP')?.address ?? '127.0.0.1';
  if (!kubelet.knowsAddresses) kubelet.keepAddresses(await cluster.list(Pod));
  const seen = kubelet.look(pod);
  const references = await referencesOf(pod, cluster);
  const allocatable = Object.entries(node?.status?.allocatable ?? {}).map(([what, much]) => [what, String(much)]);
  const facts: Facts = {
    podIPs: seen.address === undefined ? [] : [seen.address],
    hostIPs: [address],
    allocatable: Object.fromEntries(allocatable),
  };
  const { volumes, failures } = volumesOf(pod, references, facts);
  return {
    ...seen,
    node: { name, address },
    references,
    facts,
    volumes: failures.length > 0 ? unknown(failures.join('; ')) : known(volumes),
    isPrepared: seen.prepared !== undefined && sameVolumes(seen.prepared, volumes),
    hasVolumes: seen.prepared !== undefined,
  };
}

const NOTHING: References = { configMaps: new Map(), secrets: new Map(), claims: new Map(), volumes: new Map() };

const ELSEWHERE: Observed = {
  node: undefined,
  runs: new Map(),
  isPredecessorRunning: false,
  runner: '',
  volumes: known([]),
  isPrepared: false,
  hasVolumes: false,
  references: NOTHING,
  facts: { podIPs: [], hostIPs: [], allocatable: {} },
  address: undefined,
  news: [],
};

/** The names of the objects that a pod refers to. */
export function namesIn(pod: Pod): { readonly [Kind in Exclude<keyof References, 'volumes'>]: ReadonlySet<string> } {
  const [configMaps, secrets, claims] = [new Set<string>(), new Set<string>(), new Set<string>()];
  const add = (set: Set<string>, name: string | undefined) => void (name && set.add(name));
  for (const { configMap, secret, projected, persistentVolumeClaim } of pod.spec?.volumes ?? []) {
    add(configMaps, configMap?.name);
    add(secrets, secret?.secretName);
    add(claims, persistentVolumeClaim?.claimName);
    for (const source of projected?.sources ?? []) {
      add(configMaps, source.configMap?.name);
      add(secrets, source.secret?.name);
    }
  }
  for (const { env = [], envFrom = [] } of containersOf(pod)) {
    for (const { valueFrom } of env) {
      add(configMaps, valueFrom?.configMapKeyRef?.name);
      add(secrets, valueFrom?.secretKeyRef?.name);
    }
    for (const { configMapRef, secretRef } of envFrom) {
      add(configMaps, configMapRef?.name);
      add(secrets, secretRef?.name);
    }
  }
  return { configMaps, secrets, claims };
}

async function referencesOf(pod: Pod, cluster: World['cluster']): Promise<References> {
  const { namespace } = pod.metadata;
  const names = namesIn(pod);
  const [configMaps, secrets, claims] = [
    new Map<string, ConfigMap>(),
    new Map<string, Secret>(),
    new Map<string, PersistentVolumeClaim>(),
  ];
  const volumes = new Map<string, PersistentVolume>();
  for (const name of names.configMaps) {
    const found = await cluster.get(ConfigMap, { namespace, name });
    if (found) configMaps.set(name, found);
  }
  for (const name of names.secrets) {
    const found = await cluster.get(Secret, { namespace, name });
    if (found) secrets.set(name, found);
  }
  for (const name of names.claims) {
    const found = await cluster.get(PersistentVolumeClaim, { namespace, name });
    if (found) claims.set(name, found);
    const volume = found?.spec?.volumeName && (await cluster.get(PersistentVolume, { name: found.spec.volumeName }));
    if (volume) volumes.set(volume.metadata.name, volume);
  }
  return { configMaps, secrets, claims, volumes };
}
