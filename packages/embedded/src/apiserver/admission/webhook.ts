import type { StructuredSelector } from '../selectors/index.ts';
import type { WireObject } from '../served-kind.ts';
import type { ObjectStore } from '../watch/index.ts';
import type { WebhookAddress } from '../webhooks/index.ts';

/** One webhook of a configuration, with its defaults filled in: they were when it was stored. */
export interface Webhook {
  readonly name: string;
  readonly clientConfig: WebhookAddress;
  readonly rules?: readonly WebhookRule[];
  readonly failurePolicy?: 'Fail' | 'Ignore';
  readonly matchPolicy?: 'Exact' | 'Equivalent';
  readonly timeoutSeconds?: number;
  readonly namespaceSelector?: StructuredSelector;
  readonly objectSelector?: StructuredSelector;
  readonly matchConditions?: readonly { readonly name: string; readonly expression: string }[];
  readonly sideEffects?: string;
  readonly reinvocationPolicy?: 'Never' | 'IfNeeded';
}

export interface WebhookRule {
  readonly operations?: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly apiVersions?: readonly string[];
  readonly resources?: readonly string[];
  readonly scope?: string;
}

interface Configuration extends WireObject {
  readonly webhooks: readonly Webhook[];
}

export type Phase = 'mutating' | 'validating';

/** All webhooks of a phase, in the order in which they are called: by the names of their configurations. */
export function webhooksIn(store: ObjectStore, phase: Phase): readonly Webhook[] {
  const cache = store.cache(`${phase}webhookconfigurations.admissionregistration.k8s.io`);
  if (cache.size === 0) return [];
  return [...cache.entries('')].flatMap(({ object }) => (isConfiguration(object) ? object.webhooks : []));
}

/** Its schema was checked when it was stored. */
const isConfiguration = (object: WireObject): object is Configuration => Array.isArray(object['webhooks']);
