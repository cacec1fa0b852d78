import type { KubernetesObject } from '@polder/kube';
import type { FieldChange } from './changes.ts';

/** What would become of an object. */
export type Fate =
  | { readonly is: 'created' }
  | { readonly is: 'changed'; readonly changes: readonly FieldChange[] }
  | { readonly is: 'unchanged' }
  | { readonly is: 'deleted'; readonly because: string };

export interface Forecast {
  /** `deployment.apps/hello` */
  readonly name: string;
  readonly fate: Fate;
  /** What that means for its pods. Undefined: nothing. */
  readonly pods?: 'start' | 'are replaced' | 'stop' | undefined;
}

/** What would become of one manifest, and of what its operator makes of it. */
export interface ManifestForecast {
  /** `orders.yaml, line 1` */
  readonly at: string;
  /** `namespace/name` */
  readonly key: string;
  readonly itself: Forecast;
  readonly objects: readonly Forecast[];
  /** What else would be done, a line each. */
  readonly steps: readonly string[];
  /** What would not be done yet, and why, a line each. */
  readonly held: readonly string[];
  /** Why the resource would not get ready. */
  readonly trouble?: string | undefined;
}

const WORKLOADS = ['Deployment', 'StatefulSet', 'DaemonSet', 'ReplicaSet', 'Job'];
const TEMPLATE = 'spec.template.';

export function podsOf({ kind }: Pick<KubernetesObject, 'kind'>, fate: Fate): Forecast['pods'] {
  if (!WORKLOADS.includes(kind)) return undefined;
  if (fate.is === 'created') return 'start';
  if (fate.is === 'deleted') return 'stop';
  const isTemplate = fate.is === 'changed' && fate.changes.some(({ field }) => `${field}.`.startsWith(TEMPLATE));
  return isTemplate ? 'are replaced' : undefined;
}

/** Whether anything would be done. */
export const isSomething = ({ itself, objects, steps }: ManifestForecast): boolean =>
  [itself, ...objects].some(({ fate }) => fate.is !== 'unchanged') || steps.length > 0;
