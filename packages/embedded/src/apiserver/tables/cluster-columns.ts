import { listAt, numberAt, objectAt, objectsAt, shownAt, textAt, valueAt } from '../builtin/fields.ts';
import type { Column, WireObject } from '../served-kind.ts';
import { AGE, column, joined, NAME, textCell, wide } from './columns.ts';
import { since } from './human-duration.ts';

export const nodeTable: readonly Column[] = [
  column('Status', (node) => {
    const ready = objectsAt(node, 'status', 'conditions').find(({ type }) => type === 'Ready');
    const status = ready === undefined ? 'Unknown' : ready['status'] === 'True' ? 'Ready' : 'NotReady';
    return valueAt(node, 'spec', 'unschedulable') === true ? `${status},SchedulingDisabled` : status;
  }),
  column('Roles', ({ metadata }) => {
    const roles = Object.entries(metadata.labels ?? {}).flatMap(([key, value]) => {
      const role = /^node-role\.kubernetes\.io\/(.+)$/.exec(key)?.[1];
      return role ?? (key === 'kubernetes.io/role' && value !== '' ? value : []);
    });
    return joined([...new Set(roles)].toSorted());
  }),
  AGE,
  column('Version', textCell(['status', 'nodeInfo', 'kubeletVersion'])),
  wide('Internal-IP', (node) => address(node, 'InternalIP')),
  wide('External-IP', (node) => address(node, 'ExternalIP')),
  wide('OS-Image', textCell(['status', 'nodeInfo', 'osImage'], '<unknown>')),
  wide('Kernel-Version', (node) => {
    const kernel = textAt(node, 'status', 'nodeInfo', 'kernelVersion');
    const architecture = textAt(node, 'status', 'nodeInfo', 'architecture');
    if (kernel === '') return '<unknown>';
    return architecture === '' ? kernel : `${kernel} (${architecture})`;
  }),
  wide('Container-Runtime', textCell(['status', 'nodeInfo', 'containerRuntimeVersion'], '<unknown>')),
];

function address(node: WireObject, type: string): string {
  return (
    textAt(
      objectsAt(node, 'status', 'addresses').find((each) => each['type'] === type),
      'address',
    ) || '<none>'
  );
}

export const namespaceTable: readonly Column[] = [column('Status', textCell(['status', 'phase'])), AGE];

const entries = (object: WireObject, field: string) => Object.keys(objectAt(object, field)).length;

export const configMapTable: readonly Column[] = [
  column('Data', (object) => entries(object, 'data') + entries(object, 'binaryData')),
  AGE,
];

export const secretTable: readonly Column[] = [
  column('Type', textCell(['type'])),
  column('Data', (object) => entries(object, 'data')),
  AGE,
];

/** Both groups' events have these columns; the fields have two names. */
export const eventTable: readonly Column[] = [
  column('Last Seen', (event, now) => since(lastSeen(event), now)),
  column('Type', textCell(['type'])),
  column('Reason', textCell(['reason'])),
  column('Object', (event) => {
    const object = either(event, 'involvedObject', 'regarding');
    const name = textAt(object, 'name');
    return name === '' ? textAt(object, 'kind').toLowerCase() : `${textAt(object, 'kind').toLowerCase()}/${name}`;
  }),
  wide('Subobject', (event) => textAt(either(event, 'involvedObject', 'regarding'), 'fieldPath')),
  wide('Source', source),
  column('Message', (event) => (textAt(event, 'message') || textAt(event, 'note')).trim()),
  wide('First Seen', (event, now) => since(firstSeen(event), now)),
  wide('Count', count),
  { ...NAME, priority: 1 },
];

/** The core group's field, or what events.k8s.io calls it. */
const either = (event: WireObject, core: string, events: string) => valueAt(event, core) ?? valueAt(event, events);

/** An event that happened once counts nothing. */
function count(event: WireObject): number {
  const counted = numberAt(event, 'series', 'count') ?? either(event, 'count', 'deprecatedCount');
  return typeof counted === 'number' && counted > 0 ? counted : 1;
}

const time = (event: WireObject, ...names: readonly string[]) =>
  names.map((name) => textAt(event, name)).find((text) => text !== '') ?? '';

const firstSeen = (event: WireObject) => time(event, 'firstTimestamp', 'deprecatedFirstTimestamp', 'eventTime');

function lastSeen(event: WireObject): string {
  const series = textAt(event, 'series', 'lastObservedTime');
  return series || time(event, 'lastTimestamp', 'deprecatedLastTimestamp') || firstSeen(event);
}

function source(event: WireObject): string {
  const old = either(event, 'source', 'deprecatedSource');
  const component = time(event, 'reportingComponent', 'reportingController') || textAt(old, 'component');
  const instance = textAt(event, 'reportingInstance') || textAt(old, 'host');
  return instance === '' ? component : `${component}, ${instance}`;
}

export const leaseTable: readonly Column[] = [column('Holder', textCell(['spec', 'holderIdentity'])), AGE];

export const priorityClassTable: readonly Column[] = [
  column('Value', (object) => numberAt(object, 'value') ?? 0, 'integer'),
  column('Global-Default', (object) => object['globalDefault'] === true, 'boolean'),
  AGE,
  column('PreemptionPolicy', textCell(['preemptionPolicy'])),
];

export const webhookTable: readonly Column[] = [
  column('Webhooks', (object) => listAt(object, 'webhooks').length, 'integer'),
  AGE,
];

export const admissionPolicyTable: readonly Column[] = [
  column('Validations', (object) => listAt(object, 'spec', 'validations').length, 'integer'),
  column('ParamKind', (object) => {
    const kind = objectAt(object, 'spec', 'paramKind');
    return textAt(kind, 'kind') === '' ? '<unset>' : `${textAt(kind, 'apiVersion')}/${textAt(kind, 'kind')}`;
  }),
  AGE,
];

export const admissionPolicyBindingTable: readonly Column[] = [
  column('PolicyName', textCell(['spec', 'policyName'])),
  column('ParamRef', (object) => {
    const reference = objectAt(object, 'spec', 'paramRef');
    const [name, namespace] = [textAt(reference, 'name'), textAt(reference, 'namespace')];
    return name === '' ? '<unset>' : namespace === '' ? `*/${name}` : `${namespace}/${name}`;
  }),
  AGE,
];

const subjects = (kind: string) => (object: WireObject) =>
  objectsAt(object, 'subjects')
    .filter((subject) => subject['kind'] === kind)
    .map((subject) =>
      kind === 'ServiceAccount'
        ? `${textAt(subject, 'namespace')}/${textAt(subject, 'name')}`
        : textAt(subject, 'name'),
    )
    .join(', ');

export const roleBindingTable: readonly Column[] = [
  column('Role', (object) => `${textAt(object, 'roleRef', 'kind')}/${textAt(object, 'roleRef', 'name')}`),
  AGE,
  wide('Users', subjects('User')),
  wide('Groups', subjects('Group')),
  wide('ServiceAccounts', subjects('ServiceAccount')),
];

export const resourceQuotaTable: readonly Column[] = [
  column('Request', (object) => usage(object, (name) => !name.startsWith('limits.'))),
  column('Limit', (object) => usage(object, (name) => name.startsWith('limits.'))),
  AGE,
];

/** `pods: 1/4, requests.cpu: 100m/1`. */
function usage(quota: WireObject, isShown: (name: string) => boolean): string {
  const hard = objectAt(quota, 'status', 'hard');
  return Object.keys(hard)
    .toSorted()
    .filter(isShown)
    .map((name) => `${name}: ${shownAt(quota, 'status', 'used', name) || '0'}/${shownAt(hard, name)}`)
    .join(', ');
}
