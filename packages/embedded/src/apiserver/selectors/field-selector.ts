import { asText, valueAt } from '../object-text.ts';
import type { ServedKind, WireObject } from '../served-kind.ts';
import { badRequest } from '../status.ts';

export interface FieldSelector {
  matches(object: WireObject): boolean;
  /** The name that the selector asks for exactly, if it does: such a list is a single read. */
  readonly name: string | undefined;
}

/** What the real server can select built-in objects by, beside `metadata.name` and `metadata.namespace`. */
const BUILTIN_FIELDS: Readonly<Record<string, readonly string[]>> = {
  pods: [
    'spec.nodeName',
    'spec.restartPolicy',
    'spec.schedulerName',
    'spec.serviceAccountName',
    'spec.hostNetwork',
    'status.phase',
    'status.podIP',
    'status.podIPs',
    'status.nominatedNodeName',
  ],
  nodes: ['spec.unschedulable'],
  namespaces: ['status.phase'],
  secrets: ['type'],
  services: ['spec.clusterIP', 'spec.type'],
  replicationcontrollers: ['status.replicas'],
  'replicasets.apps': ['status.replicas'],
  'jobs.batch': ['status.successful'],
  'certificatesigningrequests.certificates.k8s.io': ['spec.signerName'],
  events: [
    'involvedObject.kind',
    'involvedObject.namespace',
    'involvedObject.name',
    'involvedObject.uid',
    'involvedObject.apiVersion',
    'involvedObject.resourceVersion',
    'involvedObject.fieldPath',
    'reason',
    'reportingComponent',
    'source',
    'type',
  ],
  'events.events.k8s.io': [
    'regarding.kind',
    'regarding.namespace',
    'regarding.name',
    'regarding.uid',
    'regarding.apiVersion',
    'regarding.resourceVersion',
    'regarding.fieldPath',
    'reason',
    'reportingController',
    'type',
  ],
};

/** Some fields are not where their name says, or have a value when they are absent. */
const READERS: Readonly<Record<string, (object: WireObject) => unknown>> = {
  'jobs.batch status.successful': (job) => valueAt(job, ['status', 'succeeded']) ?? 0,
  'replicasets.apps status.replicas': (set) => valueAt(set, ['status', 'replicas']) ?? 0,
  'nodes spec.unschedulable': (node) => valueAt(node, ['spec', 'unschedulable']) ?? false,
  'pods spec.hostNetwork': (pod) => valueAt(pod, ['spec', 'hostNetwork']) ?? false,
  'events source': (event) => valueAt(event, ['source', 'component']) ?? event['reportingComponent'],
};

const TERM = /^(.*?)(!=|==|=)(.*)$/;

/** `metadata.name=a,status.phase!=Running`. Throws a 400 in the real server's words. */
export function parseFieldSelector(text: string, kind: ServedKind, selectable: readonly string[]): FieldSelector {
  const terms = splitTerms(text).map((term) => {
    const [, field = '', operator = '', value = ''] = TERM.exec(term) ?? [];
    if (operator === '') throw badRequest(`invalid selector: '${text}'; can't understand '${term}'`);
    return { field, equal: operator !== '!=', value: unescape(value), read: readerOf(field, kind, selectable) };
  });
  return {
    matches: (object) => terms.every(({ read, equal, value }) => (asText(read(object)) === value) === equal),
    name: terms.find(({ field, equal }) => field === 'metadata.name' && equal)?.value,
  };
}

function readerOf(field: string, kind: ServedKind, selectable: readonly string[]): (object: WireObject) => unknown {
  const resource = kind.group === '' ? kind.plural : `${kind.plural}.${kind.group}`;
  const extra = kind.origin === 'builtin' ? BUILTIN_FIELDS[resource] : selectable;
  if (field !== 'metadata.name' && field !== 'metadata.namespace' && !extra?.includes(field)) {
    throw badRequest(unsupported(field, kind, extra));
  }
  const path = field.split('.');
  return READERS[`${resource} ${field}`] ?? ((object) => valueAt(object, path));
}

/** Kinds with fields of their own answer in other words than those without. */
function unsupported(field: string, kind: ServedKind, extra: readonly string[] | undefined): string {
  if (kind.origin === 'custom') return `field label not supported: ${field}`;
  return extra === undefined
    ? `${JSON.stringify(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`
    : `field label not supported: ${field}`;
}

/** Splits at commas that are not escaped by a backslash. */
const splitTerms = (text: string) => (text.match(/(?:[^,\\]|\\.)+/g) ?? []).filter((term) => term !== '');

const unescape = (text: string) => text.replaceAll(/\\(.)/g, '$1');
