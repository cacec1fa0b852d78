import { numberAt, objectAt, objectsAt, textAt, valueAt } from '../builtin/fields.ts';
import { isObject, type JsonObject } from '../schema/schema.ts';
import type { Column, WireObject } from '../served-kind.ts';
import { AGE, column, textCell, wide } from './columns.ts';
import { since } from './human-duration.ts';

export const podTable: readonly Column[] = [
  column('Ready', (pod) => {
    const { ready, total } = summary(pod);
    return `${ready}/${total}`;
  }),
  column('Status', (pod) => summary(pod).status),
  column('Restarts', (pod, now) => {
    const { restarts, lastRestart } = summary(pod);
    return restarts === 0 || lastRestart === '' ? String(restarts) : `${restarts} (${since(lastRestart, now)} ago)`;
  }),
  AGE,
  wide(
    'IP',
    (pod) => textAt(objectsAt(pod, 'status', 'podIPs')[0], 'ip') || textAt(pod, 'status', 'podIP') || '<none>',
  ),
  wide('Node', textCell(['spec', 'nodeName'], '<none>')),
  wide('Nominated Node', textCell(['status', 'nominatedNodeName'], '<none>')),
  wide('Readiness Gates', (pod) => {
    const gates = objectsAt(pod, 'spec', 'readinessGates');
    const passed = gates.filter((gate) => hasCondition(pod, textAt(gate, 'conditionType')));
    return gates.length === 0 ? '<none>' : `${passed.length}/${gates.length}`;
  }),
];

interface Summary {
  readonly status: string;
  readonly ready: number;
  readonly total: number;
  readonly restarts: number;
  /** When a container last ended; empty when none did. */
  readonly lastRestart: string;
}

/** A pod in a line. The status is the most telling reason: of the first init container that hangs, else of the last container. */
export function summary(pod: WireObject): Summary {
  const sidecars = new Set(
    objectsAt(pod, 'spec', 'initContainers')
      .filter((container) => container['restartPolicy'] === 'Always')
      .map((container) => textAt(container, 'name')),
  );
  const init = initSummary(pod, sidecars);
  const total = objectsAt(pod, 'spec', 'containers').length + sidecars.size;
  const isInitialized = init.status === undefined || hasCondition(pod, 'Initialized');
  const main = isInitialized
    ? mainSummary(pod)
    : { restarts: init.restarts, ready: 0, status: undefined, lastRestart: '' };
  const status = deletionStatus(pod) ?? main.status ?? init.status ?? ownStatus(pod);
  return {
    status,
    total,
    ready: init.ready + main.ready,
    restarts: isInitialized ? main.restarts + init.sidecarRestarts : init.restarts,
    lastRestart: [init.lastRestart, main.lastRestart].toSorted().at(-1) ?? '',
  };
}

function ownStatus(pod: WireObject): string {
  const scheduled = objectsAt(pod, 'status', 'conditions').find(({ type }) => type === 'PodScheduled');
  if (scheduled?.['reason'] === 'SchedulingGated') return 'SchedulingGated';
  return textAt(pod, 'status', 'reason') || textAt(pod, 'status', 'phase');
}

function deletionStatus(pod: WireObject): string | undefined {
  if (pod.metadata.deletionTimestamp === undefined) return undefined;
  if (textAt(pod, 'status', 'reason') === 'NodeLost') return 'Unknown';
  const phase = textAt(pod, 'status', 'phase');
  return phase === 'Succeeded' || phase === 'Failed' ? undefined : 'Terminating';
}

function initSummary(pod: WireObject, sidecars: ReadonlySet<string>) {
  const all = objectsAt(pod, 'status', 'initContainerStatuses');
  const total = objectsAt(pod, 'spec', 'initContainers').length;
  const isSidecar = (status: JsonObject) => sidecars.has(textAt(status, 'name'));
  const isDone = (status: JsonObject) =>
    numberAt(status, 'state', 'terminated', 'exitCode') === 0 || (isSidecar(status) && status['started'] === true);
  const hanging = all.findIndex((status) => !isDone(status));
  const seen = hanging < 0 ? all : all.slice(0, hanging + 1);
  return {
    status: hanging < 0 ? undefined : `Init:${initReason(all[hanging]) ?? `${hanging}/${total}`}`,
    ready: seen.filter((status) => isSidecar(status) && status['started'] === true && status['ready'] === true).length,
    restarts: sum(seen),
    sidecarRestarts: sum(seen.filter(isSidecar)),
    lastRestart: lastEnd(seen),
  };
}

function initReason(status: JsonObject | undefined): string | undefined {
  if (isObject(valueAt(status, 'state', 'terminated'))) return endReason(objectAt(status, 'state', 'terminated'));
  const waiting = textAt(status, 'state', 'waiting', 'reason');
  return waiting === '' || waiting === 'PodInitializing' ? undefined : waiting;
}

function mainSummary(pod: WireObject) {
  const all = objectsAt(pod, 'status', 'containerStatuses');
  const running = all.filter((status) => status['ready'] === true && isObject(valueAt(status, 'state', 'running')));
  // From the last container to the first: the first one's reason wins.
  const reason = all.map(containerReason).find((candidate) => candidate !== undefined);
  const isMixed = reason === 'Completed' && running.length > 0;
  const mixed = hasCondition(pod, 'Ready') ? 'Running' : 'NotReady';
  return {
    status: isMixed ? mixed : reason,
    ready: running.length,
    restarts: sum(all),
    lastRestart: lastEnd(all),
  };
}

function containerReason(status: JsonObject): string | undefined {
  const waiting = textAt(status, 'state', 'waiting', 'reason');
  if (waiting !== '') return waiting;
  const ended = valueAt(status, 'state', 'terminated');
  return isObject(ended) ? endReason(ended) : undefined;
}

function endReason(terminated: JsonObject): string {
  const signal = numberAt(terminated, 'signal') ?? 0;
  const number = signal === 0 ? `ExitCode:${numberAt(terminated, 'exitCode') ?? 0}` : `Signal:${signal}`;
  return textAt(terminated, 'reason') || number;
}

function hasCondition(pod: WireObject, type: string): boolean {
  const condition = objectsAt(pod, 'status', 'conditions').find((candidate) => candidate['type'] === type);
  return condition?.['status'] === 'True';
}

const sum = (statuses: readonly JsonObject[]) =>
  statuses.reduce((total, status) => total + (numberAt(status, 'restartCount') ?? 0), 0);

const lastEnd = (statuses: readonly JsonObject[]) =>
  statuses
    .map((status) => textAt(status, 'lastState', 'terminated', 'finishedAt'))
    .toSorted()
    .at(-1) ?? '';
