import { timestamp } from '@polder/kube';
import { asWire, valueAt, withValueAt } from '../object-text.ts';
import type { Json } from '../schema/index.ts';
import type { WireObject } from '../served-kind.ts';
import { badRequest, conflict } from '../status.ts';
import type { ObjectStore } from '../watch/index.ts';
import type { Call } from './call.ts';
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
  const { labels } = before.object.metadata;
  const where = topologyLabels(core.store, node);
  const isKnown = Object.keys(where).length > 0;
  const placed = isKnown ? withValueAt(before.object, ['metadata', 'labels'], { ...labels, ...where }) : before.object;
  const assigned = withValueAt(placed, ['spec', 'nodeName'], node);
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

/** A pod learns where it is: programs read it through the downward API. */
function topologyLabels(store: ObjectStore, node: string): Readonly<Record<string, string>> {
  const labels = Object.entries(store.cache('nodes').get(node)?.object.metadata.labels ?? {});
  return Object.fromEntries(labels.filter(([key]) => TOPOLOGY_LABELS.includes(key)));
}

const TOPOLOGY_LABELS = ['topology.kubernetes.io/zone', 'topology.kubernetes.io/region'];

/** Of a pod, or of anything that has conditions in its status. */
export function conditionsOf(pod: WireObject): readonly unknown[] {
  const conditions = valueAt(pod, ['status', 'conditions']);
  return Array.isArray(conditions) ? conditions : [];
}
