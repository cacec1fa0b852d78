import { timestamp } from '../core.ts';
import { asText, asWire, valueAt, withValueAt } from '../object-text.ts';
import { isObject, type Json } from '../schema/index.ts';
import { structuredLabelSelector } from '../selectors/index.ts';
import type { WireObject } from '../served-kind.ts';
import { badRequest, conflict, internalError, StatusError } from '../status.ts';
import type { Entry, ObjectStore } from '../watch/index.ts';
import type { Call } from './call.ts';
import { type Deletion, removeObject } from './delete.ts';
import { deleteOptions } from './delete-options.ts';
import { type LogOptions, logOptions } from './log-options.ts';
import { get } from './read.ts';
import { liveEntry } from './update.ts';

/** What a container has written. Whoever runs pods hands this in. */
export type PodLogs = (request: PodLogRequest) => Promise<string | AsyncIterable<Uint8Array>>;

export interface PodLogRequest extends LogOptions {
  readonly pod: WireObject;
  readonly container: string;
  readonly signal: AbortSignal | undefined;
}

/** Undefined if the pod has not come to a node yet. */
export async function podLog(call: Call): Promise<string | AsyncIterable<Uint8Array> | undefined> {
  const options = logOptions(call);
  const { object: pod } = await get(call);
  const container = containerOf(pod, call.query.get('container') ?? '');
  if (!valueAt(pod, ['spec', 'nodeName'])) return undefined;
  return call.core.podLogs({ ...options, pod, container, signal: call.signal });
}

function containerOf(pod: WireObject, asked: string): string {
  const names = containersIn(pod, 'containers');
  const others = [...containersIn(pod, 'initContainers'), ...containersIn(pod, 'ephemeralContainers')];
  const { name } = pod.metadata;
  if (asked === '') {
    const [only, ...rest] = names;
    if (only !== undefined && rest.length === 0) return only;
    throw badRequest(`a container name must be specified for pod ${name}, choose one of: [${names.join(' ')}]`);
  }
  if (![...names, ...others].includes(asked)) throw badRequest(`container ${asked} is not valid for pod ${name}`);
  return asked;
}

function containersIn(pod: WireObject, list: string): readonly string[] {
  const containers = valueAt(pod, ['spec', list]);
  return Array.isArray(containers) ? containers.map((container) => String(valueAt(container, ['name']))) : [];
}

/** Puts a pod on a node, as a scheduler does. */
export function bind(call: Call, binding: Json): void {
  const { core, served, name = '' } = call;
  const before = liveEntry(call);
  const node = valueAt(binding, ['target', 'name']);
  if (typeof node !== 'string' || node === '') throw badRequest('a binding needs the name of a node in target.name');
  const named = { group: '', plural: 'pods/binding', kind: 'Binding' };
  const bound = valueAt(before.object, ['spec', 'nodeName']);
  if (before.object.metadata.deletionTimestamp !== undefined) {
    throw conflict(named, name, `pod ${name} is being deleted, cannot be assigned to a host`);
  }
  if (bound) throw conflict(named, name, `pod ${name} is already assigned to node ${JSON.stringify(bound)}`);
  const assigned = withValueAt(before.object, ['spec', 'nodeName'], node);
  const conditions = [
    ...conditionsOf(before.object).filter((condition) => valueAt(condition, ['type']) !== 'PodScheduled'),
    { type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime: timestamp(core.clock.now()) },
  ];
  core.store.put(
    served.resource,
    before.key,
    before,
    asWire(withValueAt(assigned, ['status', 'conditions'], conditions)),
  );
}

function conditionsOf(pod: WireObject): readonly unknown[] {
  const conditions = valueAt(pod, ['status', 'conditions']);
  return Array.isArray(conditions) ? conditions : [];
}

/** A deletion that asks the disruption budgets first. */
export async function evict(call: Call, eviction: Json): Promise<Deletion> {
  const before = liveEntry(call);
  const options = deleteOptions(call, isObject(eviction) ? eviction['deleteOptions'] : undefined);
  const phase = valueAt(before.object, ['status', 'phase']);
  const isRunning =
    phase !== 'Succeeded' && phase !== 'Failed' && before.object.metadata.deletionTimestamp === undefined;
  if (isRunning) spend(call, before.object, options.isDryRun);
  return removeObject(call, options);
}

/** Takes one disruption from the budget that covers the pod. */
function spend(call: Call, pod: WireObject, isDryRun: boolean): void {
  const { store, clock } = call.core;
  const budgets = budgetsOf(store, pod);
  const [budget, second] = budgets;
  if (budget === undefined) return;
  if (second !== undefined) {
    throw internalError(
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    );
  }
  const allowed = valueAt(budget.object, ['status', 'disruptionsAllowed']);
  if (typeof allowed !== 'number' || allowed <= 0) throw violates(budget.object);
  if (isDryRun) return;
  const spent = withValueAt(budget.object, ['status', 'disruptionsAllowed'], allowed - 1);
  const disrupted = valueAt(budget.object, ['status', 'disruptedPods']);
  const pods = { ...(isObject(disrupted) && disrupted), [pod.metadata.name]: timestamp(clock.now()) };
  store.put(BUDGETS, budget.key, budget, asWire(withValueAt(spent, ['status', 'disruptedPods'], pods)));
}

const BUDGETS = 'poddisruptionbudgets.policy';

function budgetsOf(store: ObjectStore, pod: WireObject): readonly Entry[] {
  return [...store.cache(BUDGETS).entries(`${pod.metadata.namespace}/`)].filter(({ object }) => {
    const selector = valueAt(object, ['spec', 'selector']);
    return isObject(selector) && structuredLabelSelector(selector)(pod.metadata.labels);
  });
}

function violates({ metadata, ...budget }: WireObject): StatusError {
  const needs = valueAt(budget, ['status', 'desiredHealthy']) ?? 0;
  const has = valueAt(budget, ['status', 'currentHealthy']) ?? 0;
  return new StatusError(429, 'TooManyRequests', "Cannot evict pod as it would violate the pod's disruption budget.", {
    causes: [
      {
        reason: 'DisruptionBudget',
        message: `The disruption budget ${metadata.name} needs ${asText(needs)} healthy pods and has ${asText(has)} currently`,
      },
    ],
  });
}
