import { isDeepStrictEqual } from 'node:util';
import type { KubernetesObject } from '@polder/kube';
import { isHiddenField, REDACTED, redacted } from './redaction.ts';

/** One field that would be another: as text for people, without secrets. */
export interface FieldChange {
  /** `spec.template.spec.containers[server].image` */
  readonly field: string;
  /** Undefined: it is not there. */
  readonly before?: string;
  /** Undefined: it would be gone. */
  readonly after?: string;
}

/** What the server keeps for itself; none of it is anybody's wish. */
const BOOKKEEPING = ['managedFields', 'resourceVersion', 'generation', 'uid', 'creationTimestamp', 'selfLink'];
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** How an object would differ from what it is, field by field. Its status is nobody's wish either. */
export function changesBetween(before: KubernetesObject, after: KubernetesObject): readonly FieldChange[] {
  const changes: FieldChange[] = [];
  compare(wishOf(before), wishOf(after), { field: '', hides: 'nothing', isSecret: before.kind === 'Secret' }, changes);
  return changes;
}

function wishOf({ metadata, ...object }: KubernetesObject & { readonly status?: unknown }): Fields {
  const { status: _, ...rest } = object;
  const { [LAST_APPLIED]: __, ...annotations } = metadata.annotations ?? {};
  const kept = Object.entries(metadata).filter(([name]) => !BOOKKEEPING.includes(name) && name !== 'annotations');
  return { ...rest, metadata: { ...Object.fromEntries(kept), annotations } };
}

interface Place {
  readonly field: string;
  /** `all`: whatever stands here, and inside of it. `this`: a text that stands here. */
  readonly hides: 'all' | 'this' | 'nothing';
  readonly isSecret: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

function compare(before: unknown, after: unknown, place: Place, changes: FieldChange[]): void {
  if (isDeepStrictEqual(before, after)) return;
  const [one, other] = [partsOf(before, after), partsOf(after, before)];
  if (!one || !other) {
    changes.push({
      field: place.field,
      ...(before !== undefined && { before: textOf(before, place) }),
      ...(after !== undefined && { after: textOf(after, place) }),
    });
    return;
  }
  for (const key of new Set([...one.keys(), ...other.keys()])) {
    compare(one.get(key), other.get(key), inside(place, key, Array.isArray(before)), changes);
  }
}

/** What a value consists of, if it can be compared with the other one part by part. */
function partsOf(value: unknown, other: unknown): ReadonlyMap<string, unknown> | undefined {
  if (typeof value === 'string' && typeof other === 'string') {
    const [inner, otherInner] = [jsonIn(value), jsonIn(other)];
    return inner && otherInner && partsOf(inner, otherInner);
  }
  if (Array.isArray(value) && Array.isArray(other)) return itemsOf(value, other);
  return isFields(value) && isFields(other) ? new Map(Object.entries(value)) : undefined;
}

/** By their names where all have one, as containers and volumes do: an insertion is no change of all that follows. */
function itemsOf(list: readonly unknown[], other: readonly unknown[]): ReadonlyMap<string, unknown> {
  const isNamed = [list, other].every((items) => new Set(items.map(nameIn)).size === items.length);
  const haveNames = [...list, ...other].every((item) => nameIn(item) !== undefined);
  return new Map(list.map((item, index) => [(isNamed && haveNames && nameIn(item)) || String(index), item]));
}

function nameIn(item: unknown): string | undefined {
  return isFields(item) && typeof item['name'] === 'string' ? item['name'] : undefined;
}

/** A document in a text: the spec in a ConfigMap is compared by what it says. */
function jsonIn(text: string): Fields | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isFields(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function inside({ field, hides, isSecret }: Place, key: string, isItem: boolean): Place {
  const isPlain = /^[A-Za-z_][\w-]*$/.test(key);
  const step = isItem ? `[${key}]` : isPlain ? `${field === '' ? '' : '.'}${key}` : `[${JSON.stringify(key)}]`;
  const isSecretData = isSecret && field === '' && (key === 'data' || key === 'stringData');
  const byName = isHiddenField(key) ? 'this' : 'nothing';
  const isKept = hides === 'all' || isItem;
  return { field: `${field}${step}`, hides: isSecretData ? 'all' : isKept ? hides : byName, isSecret };
}

/** Enough to recognise a value by. */
const LONGEST_TEXT = 100;

function textOf(value: unknown, { hides }: Place): string {
  const isText = typeof value === 'string' || typeof value === 'number';
  const isHidden = hides === 'all' || (hides === 'this' && isText);
  const text = isHidden ? REDACTED : JSON.stringify(redacted(value));
  return text.length <= LONGEST_TEXT ? text : `${text.slice(0, LONGEST_TEXT - 1)}…`;
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
