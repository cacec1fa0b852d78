/** What a real server stored and said, against what we do; `tools/openapi/record.ts` writes the recordings. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { WireMeta, WireObject } from '../served-kind.ts';
import { messageOf, StatusError } from '../status.ts';
import { objectAt, objectsAt, textAt } from './fields.ts';
import { BUILTIN_KINDS, type BuiltinKind } from './kinds.ts';
import { allocate } from './service.ts';

interface Accepted {
  readonly sent: WireObject;
  readonly stored: WireObject;
}

interface Refused {
  readonly promise: string;
  readonly stored?: WireObject;
  readonly sent: WireObject;
  readonly says: { readonly code: number; readonly message: string; readonly causes?: readonly Cause[] };
}

interface Cause {
  readonly field: string;
  readonly message: string;
}

const read = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8');
const accepted: readonly Accepted[] = JSON.parse(read('./accepted.gen.json'));
const refused: readonly Refused[] = JSON.parse(read('./refused.gen.json'));

function kindOf({ apiVersion, kind }: WireObject): BuiltinKind {
  const found = BUILTIN_KINDS.find(
    (candidate) =>
      candidate.kind === kind &&
      apiVersion === (candidate.group === '' ? candidate.version : `${candidate.group}/${candidate.version}`),
  );
  if (!found) throw new Error(`no ${apiVersion} ${kind}`);
  return found;
}

/** The way of an object through the server: identity, defaults, the first state, and what is allocated. */
function created(kind: BuiltinKind, sent: WireObject, uid: string): WireObject {
  const metadata: WireMeta = {
    ...sent.metadata,
    uid,
    ...(kind.namespaced && { namespace: 'kubectl-x' }),
    ...(kind.generation && { generation: 1 }),
  };
  const filled = kind.defaults?.({ ...sent, metadata }) ?? { ...sent, metadata };
  const prepared = kind.prepare?.(filled) ?? filled;
  if (kind.kind !== 'Service') return prepared;
  return allocate(prepared, undefined, { address: () => '10.96.0.0', nodePort: () => 30_000 });
}

/** What other parts of the real server add: admission (tokens, tolerations, taints), clocks and random ports. */
function comparable(object: WireObject): unknown {
  const { creationTimestamp: _, ...metadata } = object.metadata;
  const text = JSON.stringify({ ...object, metadata }, (key, value: unknown) => {
    if (key === 'nodePort') return 30_000;
    if (['tolerations', 'priority', 'preemptionPolicy', 'taints', 'lastPhaseTransitionTime'].includes(key))
      return undefined;
    if (key.startsWith('serviceAccount') && value === 'default') return undefined;
    if (Array.isArray(value)) {
      const rest = value.filter((item) => !textAt(item, 'name').startsWith('kube-api-access'));
      return rest.length === 0 && value.length > 0 ? undefined : rest;
    }
    return value;
  });
  return JSON.parse(text);
}

test.each(accepted.map((pair) => [`${pair.sent.kind} ${pair.sent.metadata.name}`, pair] as const))(
  'a new %s is stored as the real server stores it',
  (_, { sent, stored }) => {
    const kind = kindOf(sent);
    const object = created(kind, sent, stored.metadata.uid);
    expect(comparable(object)).toEqual(comparable(stored));
    expect(kind.validate?.(object, undefined)).toEqual([]);
  },
);

test.each(accepted.map((pair) => [`${pair.sent.kind} ${pair.sent.metadata.name}`, pair] as const))(
  'a stored %s comes through unchanged when it is written again',
  (_, { stored }) => {
    const kind = kindOf(stored);
    expect(kind.defaults?.(stored) ?? stored).toEqual(stored);
    expect(kind.validate?.(stored, stored)).toEqual([]);
  },
);

/** Where the real server shows its internal structures: a diff behind the rule, or a whole pod spec as the value. */
const spoken = ({ field, message }: Cause) =>
  field === 'spec.template.spec' || field === 'spec.template'
    ? 'spec.template: Invalid value: field is immutable'
    : `${field}: ${withoutStructure(field, message.split('\n')[0] ?? '')}`;

const withoutStructure = (field: string, message: string) =>
  field.endsWith('securityContext') ? message.replace(/\{.*\}/, '{}') : message;

test.each(refused.map((one) => [one.promise, one] as const))('%s', (_, { sent, stored, says }) => {
  const kind = kindOf(sent);
  const object = stored ? updated(kind, sent, stored) : created(kind, sent, '00000000-0000-0000-0000-000000000000');
  const errors = kind.validate?.(object, stored) ?? [];
  const ours = errors.map((error) => spoken({ field: error.field, message: messageOf(error) }));
  expect(ours.toSorted()).toEqual([...new Set(says.causes?.map(spoken))].toSorted());
});

function updated(kind: BuiltinKind, sent: WireObject, stored: WireObject): WireObject {
  const metadata = { ...stored.metadata, ...sent.metadata };
  const wanted = { ...sent, ...(kind.kind === 'Pod' && { spec: admitted(sent, stored) }), metadata };
  return kind.defaults?.({ ...wanted, status: stored['status'] }) ?? wanted;
}

/** Admission gives a pod the same tolerations again on each update. */
function admitted(sent: WireObject, stored: WireObject): unknown {
  const given = objectsAt(stored, 'spec', 'tolerations').filter((one) =>
    textAt(one, 'key').startsWith('node.kubernetes.io/'),
  );
  return { ...objectAt(sent, 'spec'), tolerations: [...objectsAt(sent, 'spec', 'tolerations'), ...given] };
}

test.each([
  ['2026-01-01T00:00:00.123Z', 'cannot parse ".123Z" as ".000000"'],
  ['2026-01-01T00:00:00Z', 'cannot parse "Z" as ".000000"'],
  ['bogus', 'cannot parse "bogus" as "2006"'],
  ['2026-01-01T00:00:00.1234567Z', 'cannot parse "7Z" as "Z07:00"'],
])("a lease's time has six digits after the second: %s", (renewTime, problem) => {
  const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: meta('x'), spec: { renewTime } };
  const message = `Lease in version "v1" cannot be handled as a Lease: parsing time "${renewTime}" as "2006-01-02T15:04:05.000000Z07:00": ${problem}`;
  expect(() => kindOf(lease).defaults?.(lease)).toThrow(new StatusError(400, 'BadRequest', message));
});

const meta = (name: string): WireMeta => ({
  name,
  uid: 'u',
  resourceVersion: '1',
  creationTimestamp: '2026-01-01T00:00:00Z',
});
