import type { KubernetesObject, PersistentVolumeClaim, Pod, Service, ServicePort, StatefulSet } from '@polder/kube';
import type { Travel } from '../../api/index.ts';
import type { QdrantCluster } from '../../kinds/index.ts';

/** Which peer is told to propose something to the others. */
export interface Through {
  readonly cluster: QdrantCluster;
  readonly pod: string;
}

/** What is done for a cluster beyond applying its objects. */
export type ClusterStep =
  /** A key is made once: whoever finds one leaves it alone. */
  | { readonly do: 'create-key'; readonly because: string; readonly cluster: QdrantCluster; readonly name: string }
  | { readonly do: 'issue-certificate'; readonly because: string; readonly cluster: QdrantCluster }
  /** Changes how many pods there are. */
  | { readonly do: 'scale'; readonly because: string; readonly set: StatefulSet; readonly to: number }
  /** Changes what pods run that start from now on. */
  | { readonly do: 'change-image'; readonly because: string; readonly set: StatefulSet; readonly image: string }
  /** Deletes a pod; its StatefulSet makes it anew. `outdatedBy`: only as long as that one is as it was judged by. */
  | { readonly do: 'restart-pod'; readonly because: string; readonly pod: Pod; readonly outdatedBy?: StatefulSet }
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
  | { readonly do: 'remove-volume'; readonly because: string; readonly claim: PersistentVolumeClaim }
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
  /** Something that an earlier spec needed and this one does not, or that goes with the cluster. */
  | { readonly do: 'remove-object'; readonly because: string; readonly object: KubernetesObject };

/** After one of these, peers or copies are fewer for a while: the next waits until all is well again. */
const DISRUPTIVE: readonly ClusterStep['do'][] = [
  'scale',
  'change-image',
  'restart-pod',
  'move-replica',
  'replicate-shard',
  'drop-replica',
  'remove-peer',
  'recreate-set',
];

export const isDisruptive = ({ do: name }: ClusterStep): boolean => DISRUPTIVE.includes(name);
