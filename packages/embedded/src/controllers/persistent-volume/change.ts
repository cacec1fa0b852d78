import type { KubernetesObject, Patch } from '@polder/kube';

/** What of a claim or a volume is changed, as a merge patch. */
export interface Change {
  readonly metadata?: {
    readonly annotations?: Readonly<Record<string, string | null>>;
    readonly finalizers?: readonly string[];
  };
  readonly spec?: object;
}

/** Applies only to the very version that was looked at: of two claims that want a volume, one wins. */
export function guarded({ metadata: { uid, resourceVersion } }: KubernetesObject, change: Change): Patch {
  return { type: 'merge', body: { ...change, metadata: { uid, resourceVersion, ...change.metadata } } };
}
