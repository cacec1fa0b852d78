import { timestamp } from '@polder/kube';
import { asText, asWire, valueAt, withValueAt } from '../object-text.ts';
import { isObject, type Json } from '../schema/index.ts';
import { structuredLabelSelector } from '../selectors/index.ts';
import type { WireObject } from '../served-kind.ts';
import { badRequest, forbidden, StatusError, unnamed } from '../status.ts';
import type { Entry, ObjectStore } from '../watch/index.ts';
import type { Call } from './call.ts';
import { type Deletion, removeObject } from './delete.ts';
import { type DeleteOptions, deleteOptions } from './delete-options.ts';
import { conditionsOf } from './pods.ts';
import { liveEntry } from './update.ts';

/** A deletion that asks the disruption budgets first. */
export async function evict(call: Call, eviction: Json): Promise<Deletion> {
  if (valueAt(eviction, ['metadata', 'name']) !== call.name) {
    throw badRequest('name in URL does not match name in Eviction object');
  }
  const sent = deleteOptions(call, isObject(eviction) ? eviction['deleteOptions'] : undefined);
  const options = { ...sent, isDryRun: sent.isDryRun || call.query.has('dryRun') };
  const { object: pod } = liveEntry(call);
  if (isGuarded(pod)) spend(call, pod, options.isDryRun);
  return removeObject(call, options.isDryRun ? options : withCondition(call, options));
}

/** What has not started, has ended or is on its way out disrupts nobody by going. */
function isGuarded({ metadata, status }: WireObject): boolean {
  const phase = asText(valueAt(status, ['phase']));
  return !['Pending', 'Succeeded', 'Failed'].includes(phase) && metadata.deletionTimestamp === undefined;
}

/** The pod shows why it goes. A version that the caller insists on is from now on the one with that in it. */
function withCondition(call: Call, options: DeleteOptions): DeleteOptions {
  const { store, clock } = call.core;
  const before = liveEntry(call);
  const { resourceVersion } = before.object.metadata;
  if (options.resourceVersion !== undefined && options.resourceVersion !== resourceVersion) return options;
  if (options.uid !== undefined && options.uid !== before.object.metadata.uid) return options;
  const others = conditionsOf(before.object).filter((condition) => valueAt(condition, ['type']) !== 'DisruptionTarget');
  const condition = {
    type: 'DisruptionTarget',
    status: 'True',
    lastProbeTime: null,
    lastTransitionTime: timestamp(clock.now()),
    reason: 'EvictionByEvictionAPI',
    message: 'Eviction API: evicting',
  };
  const object = asWire(withValueAt(before.object, ['status', 'conditions'], [...others, condition]));
  const after = store.put(call.served.resource, before.key, before, object);
  if (options.resourceVersion === undefined || after === undefined) return options;
  return { ...options, resourceVersion: after.object.metadata.resourceVersion };
}

/** Takes one disruption from the budget that covers the pod. */
function spend(call: Call, pod: WireObject, isDryRun: boolean): void {
  const { store, clock } = call.core;
  const [budget, second] = budgetsOf(store, pod);
  if (budget === undefined) return;
  if (second !== undefined) {
    throw unnamed('This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.');
  }
  if (isSickAndSpared(pod, budget.object)) return;
  const left = allowedBy(budget.object) - 1;
  if (isDryRun) return;
  const now = timestamp(clock.now());
  const status = valueAt(budget.object, ['status']);
  const disrupted = valueAt(status, ['disruptedPods']);
  const spent = {
    ...(isObject(status) && status),
    disruptionsAllowed: left,
    disruptedPods: { ...(isObject(disrupted) && disrupted), [pod.metadata.name]: now },
    ...(left === 0 && { conditions: [...othersIn(budget.object), insufficient(budget.object, now)] }),
  };
  store.put(BUDGETS, budget.key, budget, { ...budget.object, status: spent });
}

const BUDGETS = 'poddisruptionbudgets.policy';

function budgetsOf(store: ObjectStore, pod: WireObject): readonly Entry[] {
  return [...store.cache(BUDGETS).entries(`${pod.metadata.namespace}/`)].filter(({ object }) => {
    const selector = valueAt(object, ['spec', 'selector']);
    return isObject(selector) && structuredLabelSelector(selector)(pod.metadata.labels ?? {});
  });
}

/** A pod that is not ready is no loss, as long as enough others are; or at all, if the budget says so. */
function isSickAndSpared(pod: WireObject, budget: WireObject): boolean {
  const ready = conditionsOf(pod).find((condition) => valueAt(condition, ['type']) === 'Ready');
  if (valueAt(ready, ['status']) === 'True') return false;
  if (valueAt(budget, ['spec', 'unhealthyPodEvictionPolicy']) === 'AlwaysAllow') return true;
  const desired = numberIn(budget, 'desiredHealthy');
  return desired > 0 && numberIn(budget, 'currentHealthy') >= desired;
}

const numberIn = (budget: WireObject, field: string) => Number(valueAt(budget, ['status', field]) ?? 0);

/** So many evictions that nobody has confirmed yet mean that nobody will. */
const MOST_DISRUPTED = 2_000;

/** How many disruptions are left, at least one; refuses otherwise. */
function allowedBy(budget: WireObject): number {
  const { name, generation = 0 } = budget.metadata;
  // What the controller has not seen yet may allow less.
  if (numberIn(budget, 'observedGeneration') < generation) {
    throw tooMany(`The disruption budget ${name} is still being processed by the server.`, 10);
  }
  const allowed = numberIn(budget, 'disruptionsAllowed');
  const named = { group: 'policy', plural: 'poddisruptionbudget', kind: 'PodDisruptionBudget' };
  if (allowed < 0) throw forbidden(named, name, 'pdb disruptions allowed is negative');
  const disrupted = valueAt(budget, ['status', 'disruptedPods']);
  if (isObject(disrupted) && Object.keys(disrupted).length > MOST_DISRUPTED) {
    const why = 'DisruptedPods map too big - too many evictions not confirmed by PDB controller';
    throw forbidden(named, name, why);
  }
  if (allowed === 0) throw tooMany(whyNot(budget));
  return allowed;
}

function whyNot(budget: WireObject): string {
  const { name } = budget.metadata;
  const [needs, has] = [numberIn(budget, 'desiredHealthy'), numberIn(budget, 'currentHealthy')];
  const condition = conditionsOf(budget).find((one) => valueAt(one, ['type']) === ALLOWED);
  const isFalse = valueAt(condition, ['status']) === 'False';
  const [reason, message] = ['reason', 'message'].map((field) => asText(valueAt(condition, [field])));
  const refusal = `The disruption budget ${name} does not allow evicting pods currently`;
  if (isFalse && message && reason === 'SyncFailed') return `${refusal} because it failed sync: ${message}`;
  if (has <= needs) return `The disruption budget ${name} needs ${needs} healthy pods and has ${has} currently`;
  return isFalse && message ? `${refusal} (${reason}): ${message}` : refusal;
}

const ALLOWED = 'DisruptionAllowed';

const othersIn = (budget: WireObject) =>
  conditionsOf(budget).filter((condition) => valueAt(condition, ['type']) !== ALLOWED);

/** What the controller will say of a budget with nothing left. */
const insufficient = (budget: WireObject, now: string) => ({
  type: ALLOWED,
  status: 'False',
  observedGeneration: numberIn(budget, 'observedGeneration'),
  lastTransitionTime: now,
  reason: 'InsufficientPods',
  message: '',
});

const tooMany = (message: string, retryAfterSeconds?: number) =>
  new StatusError(429, 'TooManyRequests', "Cannot evict pod as it would violate the pod's disruption budget.", {
    causes: [{ reason: 'DisruptionBudget', message }],
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  });
