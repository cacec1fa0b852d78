import { isObject, type Json, type JsonObject } from '../schema/schema.ts';
import { FieldSet } from './field-set.ts';
import { parseFieldsV1, printFieldsV1 } from './fields-v1.ts';
import { compareTexts } from './path-element.ts';
import type { Shape } from './shape.ts';
import { fitToShape } from './typed-fields.ts';

/** What one manager owns through one kind of operation: an entry of `metadata.managedFields`. */
export interface Ownership {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  /** `status`, `scale`; empty for the object's own endpoint. */
  readonly subresource: string;
  /** RFC 3339, in seconds. An applier that never changed a value has none. */
  readonly time: string | undefined;
  readonly fields: FieldSet;
}

/** Owners by `idOf`. */
export type Ownerships = ReadonlyMap<string, Ownership>;

/** Two entries are the same owner when this is the same. Appliers keep their identity when they move to a new version. */
export function idOf({ manager, operation, apiVersion, subresource }: Omit<Ownership, 'time' | 'fields'>): string {
  return JSON.stringify({
    ...(manager !== '' && { manager }),
    operation,
    ...(operation === 'Update' && { apiVersion }),
    ...(subresource !== '' && { subresource }),
  });
}

/** Undefined when an entry is not one that the server could have written. */
export function decodeManagedFields(entries: Json | undefined, shape: Shape): Ownerships | undefined {
  const owners = new Map<string, Ownership>();
  if (entries === undefined || entries === null) return owners;
  if (!Array.isArray(entries)) return undefined;
  for (const entry of entries) {
    const owner = isObject(entry) ? decodeEntry(entry, shape) : undefined;
    if (owner === undefined) return undefined;
    owners.set(idOf(owner), owner);
  }
  return owners;
}

function decodeEntry(entry: JsonObject, shape: Shape): Ownership | undefined {
  const { manager = '', operation, apiVersion, subresource = '', time, fieldsType, fieldsV1 = {} } = entry;
  if (operation !== 'Apply' && operation !== 'Update') return undefined;
  if (typeof apiVersion !== 'string' || apiVersion === '' || fieldsType !== 'FieldsV1') return undefined;
  if (typeof manager !== 'string' || typeof subresource !== 'string') return undefined;
  const parsed = parseFieldsV1(fieldsV1);
  if (parsed === undefined) return undefined;
  const fields = fitToShape(parsed, shape);
  return { manager, operation, apiVersion, subresource, time: typeof time === 'string' ? time : undefined, fields };
}

/** Undefined when nobody owns anything: the field is then left out. */
export function encodeManagedFields(owners: Ownerships): readonly JsonObject[] | undefined {
  if (owners.size === 0) return undefined;
  return [...owners.values()].toSorted(compareOwners).map((owner) => ({
    ...(owner.manager !== '' && { manager: owner.manager }),
    operation: owner.operation,
    apiVersion: owner.apiVersion,
    ...(owner.time !== undefined && { time: owner.time }),
    fieldsType: 'FieldsV1',
    fieldsV1: printFieldsV1(owner.fields),
    ...(owner.subresource !== '' && { subresource: owner.subresource }),
  }));
}

/** Appliers first, then by time and name. */
function compareOwners(a: Ownership, b: Ownership): number {
  return (
    compareTexts(a.operation, b.operation) ||
    secondsOf(a) - secondsOf(b) ||
    compareTexts(a.manager, b.manager) ||
    compareTexts(a.apiVersion, b.apiVersion) ||
    compareTexts(a.subresource, b.subresource)
  );
}

const secondsOf = ({ time }: Ownership) => (time === undefined ? 0 : Math.floor(Date.parse(time) / 1000));

/** Above this many updaters, the oldest are merged into one: an object must not grow with the number of its editors. */
const MOST_UPDATERS = 10;

export function capUpdaters(owners: Ownerships): Ownerships {
  const updaters = [...owners].filter(([, { operation }]) => operation === 'Update');
  if (updaters.length <= MOST_UPDATERS) return owners;
  updaters.sort(([idA, a], [idB, b]) => secondsOf(a) - secondsOf(b) || compareTexts(idA, idB));
  const capped = new Map(owners);
  const oldest = new Map<string, string>();
  let count = updaters.length;
  for (const [id, owner] of updaters) {
    if (count <= MOST_UPDATERS) break;
    const first = oldest.get(owner.apiVersion);
    if (first === undefined) {
      oldest.set(owner.apiVersion, id);
      continue;
    }
    const bucket: Omit<Ownership, 'fields'> = {
      manager: 'ancient-changes',
      operation: 'Update',
      apiVersion: owner.apiVersion,
      subresource: '',
      time: owner.time,
    };
    const known = capped.get(idOf(bucket)) ?? capped.get(first);
    capped.delete(first);
    capped.delete(id);
    capped.set(idOf(bucket), { ...bucket, fields: owner.fields.union(known?.fields ?? FieldSet.empty) });
    oldest.set(owner.apiVersion, idOf(bucket));
    count--;
  }
  return capped;
}
