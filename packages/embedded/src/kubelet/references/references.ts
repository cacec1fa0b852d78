import type { ConfigMap, PersistentVolume, PersistentVolumeClaim, Secret } from '@polder/kube';

/** The objects of a pod's namespace that it may refer to, by name. */
export interface References {
  readonly configMaps: ReadonlyMap<string, ConfigMap>;
  readonly secrets: ReadonlyMap<string, Secret>;
  readonly claims: ReadonlyMap<string, PersistentVolumeClaim>;
  /** The volumes that the claims are bound to. */
  readonly volumes: ReadonlyMap<string, PersistentVolume>;
}

/** What a pod can learn about the place where it runs. */
export interface Facts {
  /** The first one is the main one. */
  readonly podIPs: readonly string[];
  readonly hostIPs: readonly string[];
  /** What the node has to give: the limits of containers that have none. */
  readonly allocatable: Readonly<Record<string, string>>;
}
