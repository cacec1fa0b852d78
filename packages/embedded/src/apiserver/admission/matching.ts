import { newEnvironment } from '../cel/environment.ts';
import { everything, type StructuredSelector, structuredLabelSelector } from '../selectors/index.ts';
import type { WireObject } from '../served-kind.ts';
import type { ServedResource } from '../served-kinds.ts';
import type { ObjectStore } from '../watch/index.ts';
import type { Review } from './admission.ts';
import type { Webhook, WebhookRule } from './webhook.ts';

/**
 * The version of the resource that a webhook wants to be asked about: its rules may name another than the one that was
 * called, and see the request all the same unless their policy is Exact. Undefined if it does not care, by everything
 * but its match conditions. Pure but for the namespace's labels.
 */
export function concernedVersion(
  webhook: Webhook,
  review: Review,
  object: WireObject | undefined,
  old: WireObject | undefined,
  store: ObjectStore,
): ServedResource | undefined {
  const selectsObject = selectorOf(webhook.objectSelector);
  const candidates = [object, old].filter((candidate) => candidate !== undefined);
  if (!candidates.some(({ metadata }) => selectsObject(metadata.labels))) return undefined;
  if (!namespaceFits(webhook, review, object ?? old, store)) return undefined;
  const { core, served } = review.call;
  const versions = webhook.matchPolicy === 'Exact' ? [served] : [served, ...core.kinds.versionsOf(served.resource)];
  return versions.find((version) => (webhook.rules ?? []).some((rule) => ruleFits(rule, review, version)));
}

function ruleFits(rule: WebhookRule, { call, operation }: Review, { kind }: ServedResource): boolean {
  const has = (list: readonly string[] | undefined, value: string) => list?.includes('*') || list?.includes(value);
  const scope = rule.scope ?? '*';
  const isInScope = scope === '*' || (scope === 'Namespaced') === (call.namespace !== undefined);
  return (
    isInScope &&
    has(rule.operations, operation) === true &&
    has(rule.apiGroups, kind.group) === true &&
    has(rule.apiVersions, kind.version) === true &&
    (rule.resources ?? []).some((resource) => resourceFits(resource, kind.plural, call.subresource))
  );
}

/** `pods`, `pods/status`, `pods/*`, `*`, `*` + `/status`, `*` + `/*`. Without a slash subresources are left out. */
function resourceFits(pattern: string, plural: string, subresource: string | undefined): boolean {
  const [resource, sub] = pattern.split('/');
  if (resource !== '*' && resource !== plural) return false;
  return sub === undefined ? subresource === undefined : sub === '*' || sub === subresource;
}

/** What is in no namespace is not held back by a selector of namespaces; a namespace is selected by its own labels. */
function namespaceFits(
  { namespaceSelector }: Webhook,
  { call }: Review,
  object: WireObject | undefined,
  store: ObjectStore,
): boolean {
  const selects = selectorOf(namespaceSelector);
  if (call.served.resource === 'namespaces') return selects(object?.metadata.labels);
  if (call.namespace === undefined) return true;
  return selects(store.cache('namespaces').get(call.namespace)?.object.metadata.labels);
}

const selectorOf = (selector: StructuredSelector | undefined) =>
  selector === undefined ? everything : structuredLabelSelector(selector);

/** What a condition can speak of. */
export interface ConditionContext {
  readonly object: unknown;
  readonly oldObject: unknown;
  readonly request: unknown;
}

/** Whether all match conditions hold. Throws what the first failing evaluation says, if none is false. */
export function conditionsHold({ matchConditions = [] }: Webhook, context: ConditionContext): boolean {
  if (matchConditions.length === 0) return true;
  const environment = newEnvironment()
    .registerVariable('object', 'dyn')
    .registerVariable('oldObject', 'dyn')
    .registerVariable('request', 'dyn');
  let failed: Error | undefined;
  for (const { expression } of matchConditions) {
    try {
      if (environment.evaluate(expression, { ...context }) === false) return false;
    } catch (error) {
      failed ??= error instanceof Error ? error : new Error(String(error));
    }
  }
  if (failed !== undefined) throw failed;
  return true;
}
