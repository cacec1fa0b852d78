import { parseJson, printJson } from './exact-json.ts';
import { isObject, type JsonObject } from './schema/schema.ts';
import type { WireMeta, WireObject } from './served-kind.ts';

/**
 * The text of an object, made once when it is stored and then spliced into every list and watch line. `kind` and
 * `apiVersion` always come first, so that `withoutType` can cut them off without parsing.
 */
export function textOf(object: WireObject): string {
  const { kind, apiVersion, metadata, ...rest } = object;
  const head = typePrefix(kind, apiVersion);
  const tail = printJson({ metadata: inOrder(metadata), ...rest });
  return `${head}${tail.slice(1)}`;
}

/** Kinds and versions are names that need no escaping. */
const typePrefix = (kind: string, apiVersion: string) => `{"kind":"${kind}","apiVersion":"${apiVersion}",`;

/** Items of a list of built-in kinds come without kind and version; those of custom resources with them. */
export function withoutType(object: WireObject, text: string): string {
  return `{${text.slice(typePrefix(object.kind, object.apiVersion).length)}`;
}

const META_ORDER = [
  'name',
  'generateName',
  'namespace',
  'selfLink',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'labels',
  'annotations',
  'ownerReferences',
  'finalizers',
  'managedFields',
] as const;

/** What is empty is not written: an object of a dry run has no version. */
function inOrder(metadata: WireMeta): Record<string, unknown> {
  const ordered: Record<string, unknown> = {};
  for (const name of META_ORDER)
    if (metadata[name] !== undefined && metadata[name] !== '') ordered[name] = metadata[name];
  return ordered;
}

/** What was stored is what was validated: its shape is not checked again. */
export function parseStored(text: string): WireObject {
  const value = parseJson(text);
  if (!isObject(value)) throw new TypeError('storage holds a text that is no object');
  return asWire(value);
}

/** A value read by a dotted path (`spec.nodeName`); undefined where the path ends early. */
export function valueAt(object: unknown, path: readonly string[]): unknown {
  let value: unknown = object;
  for (const name of path) {
    if (!isObject(value)) return undefined;
    value = value[name];
  }
  return value;
}

/** A copy with the value at a path replaced; `undefined` removes it. Objects on the way are made when they are missing. */
export function withValueAt(
  object: Readonly<Record<string, unknown>>,
  path: readonly string[],
  value: unknown,
): Readonly<Record<string, unknown>> {
  const [name, ...rest] = path;
  if (name === undefined) return object;
  const { [name]: inner, ...others } = object;
  const next = rest.length === 0 ? value : withValueAt(isObject(inner) ? inner : {}, rest, value);
  return next === undefined ? others : { ...object, [name]: next };
}

/** The same object for those who work on any JSON. */
export function asJson(object: WireObject): JsonObject {
  if (!isObject(object)) throw new TypeError('an object is no JSON object');
  return object;
}

/** Back from any JSON: what lacks the fields of every object gets empty ones, and validation says so. */
export function asWire(value: Readonly<Record<string, unknown>>): WireObject {
  if (isWire(value)) return value;
  const metadata = value['metadata'];
  return {
    ...value,
    apiVersion: asText(value['apiVersion']),
    kind: asText(value['kind']),
    metadata: { name: '', uid: '', resourceVersion: '', creationTimestamp: '', ...(isObject(metadata) && metadata) },
  };
}

/** Texts in metadata are texts: the schema of every kind says so, and it is checked before anything is stored. */
function isWire(value: Readonly<Record<string, unknown>>): value is WireObject {
  const { apiVersion, kind, metadata } = value;
  if (typeof apiVersion !== 'string' || typeof kind !== 'string' || !isObject(metadata)) return false;
  return ['name', 'uid', 'resourceVersion', 'creationTimestamp'].every((name) => typeof metadata[name] === 'string');
}

/** A value in a message or a comparison: texts as they are, nothing as nothing, the rest as JSON. */
export function asText(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : printJson(value);
}
