import type { Client, CustomKind, Kind, KubernetesObject, ObjectRef } from '@polder/kube';

/** An operator and what it is given to do: so many times the same resource, and what belongs to it. */
export interface Subject {
  /** As `--products` names it. */
  readonly product: string;
  /** What the resource is called in the table: `flow`. */
  readonly each: string;
  readonly kinds: readonly CustomKind[];
  /** Of what is made for resources. */
  readonly children: readonly Kind[];
  readonly env: Readonly<Record<string, string>>;
  /** What there must be before the first resource is. */
  prepare(client: Client): Promise<void>;
  create(client: Client, number: number): Promise<void>;
  /** The kinds of resources that are waited for: how many there are of each for each number, and when one is as it should be. */
  readonly awaited: readonly Awaited[];
  /** A change that somebody makes to what belongs to a resource, and that is undone. */
  readonly drift: Drift;
  /** Stands for all that pods would serve, in a process of its own. */
  servePods(): Promise<PodServer>;
}

export interface Awaited {
  readonly kind: Kind;
  readonly times: number;
  /** (A method's type, so that one that knows its kind can be given.) */
  readonly isReady: { is(object: KubernetesObject): boolean }['is'];
}

export interface Drift {
  readonly what: string;
  change(client: Client, number: number): Promise<void>;
  isUndone(client: Client, number: number): Promise<boolean>;
}

export interface PodServer {
  /** Where the operator finds addresses of the cluster, as its configuration says it. */
  readonly resolve: Readonly<Record<string, string>>;
  close(): void;
}

export const NAMESPACE = 'default';

export const at = (name: string): ObjectRef & { readonly namespace: string } => ({ namespace: NAMESPACE, name });
