import type { KubernetesObject, PersistentVolumeClaim, Pod, Service, ServicePort, StatefulSet } from '@polder/kube';
import type { Travel } from '../../api/index.ts';
import type { QdrantCluster } from '../../kinds/index.ts';
import type { ServiceMonitor, VolumeSnapshot } from '../foreign-kinds.ts';
import type { Renewal } from './certificate.ts';

/** Which peer is told to propose something to the others. */
export interface Through {
  readonly cluster: QdrantCluster;
  readonly pod: string;
}

/** What is done for a cluster beyond applying its objects. */
export type ClusterStep =
  /** A key is made once: whoever finds one leaves it alone. */
  | { readonly do: 'create-key'; readonly because: string; readonly cluster: QdrantCluster; readonly name: string }
  /** Writes what peers show each other, and whom they trust: those that run have it after their next restart. */
  | {
      readonly do: 'renew-certificate';
      readonly because: string;
      readonly cluster: QdrantCluster;
      readonly next: Renewal;
    }
  /** Changes how many pods there are. */
  | {
      readonly do: 'scale';
      readonly because: string;
      readonly set: StatefulSet;
      readonly to: number;
      /** All that is wanted of it, the new number included: then it is applied. Left out: nothing but the number changes. */
      readonly as?: StatefulSet;
    }
  /** Takes the replacing of pods back from Kubernetes. */
  | { readonly do: 'hold-updates'; readonly because: string; readonly set: StatefulSet }
  /** Changes what pods run that start from now on. */
  | { readonly do: 'change-image'; readonly because: string; readonly set: StatefulSet; readonly image: string }
  /** Deletes a pod; its StatefulSet makes it anew. `outdatedBy`: only as long as that one is as it was judged by. */
  | { readonly do: 'restart-pod'; readonly because: string; readonly pod: Pod; readonly outdatedBy?: StatefulSet }
  /** Forgets a pod that its node does not confirm to have ended: its StatefulSet makes it anew elsewhere. */
  | { readonly do: 'force-delete-pod'; readonly because: string; readonly pod: Pod }
  | ({ readonly do: 'move-replica'; readonly because: string; readonly via: Through } & Travel)
  | ({ readonly do: 'replicate-shard'; readonly because: string; readonly via: Through } & Travel)
  | {
      readonly do: 'drop-replica';
      readonly because: string;
      readonly via: Through;
      readonly collection: string;
      readonly shard: number;
      readonly peer: string;
    }
  | {
      readonly do: 'remove-peer';
      readonly because: string;
      readonly via: Through;
      readonly peer: string;
      readonly pod: string;
    }
  | {
      readonly do: 'remove-volume';
      readonly because: string;
      readonly claim: PersistentVolumeClaim;
      /** The StatefulSet that has no pod for it. */
      readonly beyond?: StatefulSet | undefined;
    }
  | {
      readonly do: 'expand-volume';
      readonly because: string;
      readonly claim: PersistentVolumeClaim;
      readonly size: string;
    }
  /** Deletes a StatefulSet and leaves its pods: the next pass makes it anew around them. */
  | { readonly do: 'recreate-set'; readonly because: string; readonly set: StatefulSet }
  /** Gives the ports of a Service their numbers back. */
  | {
      readonly do: 'correct-ports';
      readonly because: string;
      readonly service: Service;
      readonly ports: readonly ServicePort[];
    }
  | { readonly do: 'create-volume-snapshot'; readonly because: string; readonly snapshot: VolumeSnapshot }
  | { readonly do: 'remove-volume-snapshot'; readonly because: string; readonly snapshot: VolumeSnapshot }
  | {
      readonly do: 'write-monitor';
      readonly because: string;
      readonly cluster: QdrantCluster;
      readonly monitor: ServiceMonitor;
      readonly before: ServiceMonitor | undefined;
    }
  | { readonly do: 'remove-monitor'; readonly because: string; readonly monitor: ServiceMonitor }
  /** Something that an earlier spec needed and this one does not, or that goes with the cluster. */
  | { readonly do: 'remove-object'; readonly because: string; readonly object: KubernetesObject };

/** After one of these, peers or copies are fewer for a while: the next waits until all is well again. */
const DISRUPTIVE: readonly ClusterStep['do'][] = [
  'scale',
  'change-image',
  'restart-pod',
  'force-delete-pod',
  'move-replica',
  'replicate-shard',
  'drop-replica',
  'remove-peer',
  'recreate-set',
];

/** Whether a step changes the cluster itself, and not only what is kept of it or left of it. */
export const isOfCluster = ({ do: name }: ClusterStep): boolean => !BESIDE.includes(name);

const BESIDE: readonly ClusterStep['do'][] = [
  'remove-object',
  'create-volume-snapshot',
  'remove-volume-snapshot',
  'write-monitor',
  'remove-monitor',
];

export const isDisruptive = ({ do: name }: ClusterStep): boolean => DISRUPTIVE.includes(name);
