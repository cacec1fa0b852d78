import { misspelledQuantity } from '../builtin/index.ts';
import { jsonTypeName } from '../merge/index.ts';
import { asText, asWire } from '../object-text.ts';
import { duplicateKeys } from '../schema/duplicate-keys.ts';
import { duplicateFieldMessage, prune, strictDecodingMessage, unknownFieldMessage } from '../schema/prune.ts';
import { isObject, type Json, type JsonObject, type JsonSchema, type Schema } from '../schema/schema.ts';
import { validate } from '../schema/validate.ts';
import type { ServedKind, WireObject } from '../served-kind.ts';
import type { ServedResource } from '../served-kinds.ts';
import { badRequest, invalid, type StatusError } from '../status.ts';
import type { Call } from './call.ts';
import type { WriteOptions } from './options.ts';

/** The body of a request: a value, and its text for what a parsed value no longer tells (keys given twice). */
export interface Body {
  readonly value: Json;
  readonly text?: string | undefined;
}

/**
 * From a body to an object of the kind, as a typed server decodes it: the type fits, fields that the kind does not have
 * are dropped and told about (or refused, if the client asks for that).
 */
export function decode(
  call: Call,
  { value, text }: Body,
  { fieldValidation }: WriteOptions,
  refuse: (why: string) => StatusError = (why) => undecodable(call.served.kind, why),
): WireObject {
  const { served } = call;
  if (!isObject(value))
    throw unrecognised(
      served.kind,
      "couldn't get version/kind; json parse error: json: cannot unmarshal into an object",
    );
  const typed = checkType(served, value);
  const { value: known, unknown } = prune(served.kind.schema, typed);
  const pruned = isObject(known) ? known : typed;
  if (fieldValidation !== 'Ignore') {
    const complaints = [
      ...(text === undefined ? [] : duplicateKeys(text).map(duplicateFieldMessage)),
      ...inDocumentOrder(unknown, typed).map(unknownFieldMessage),
    ];
    if (complaints.length > 0 && fieldValidation === 'Strict') throw refuse(strictDecodingMessage(complaints));
    call.warnings.push(...complaints);
  }
  if (served.kind.origin === 'custom') {
    checkShape(served.kind, { metadata: pruned['metadata'] ?? {} });
    return asWire(withoutEmptyMetadata(pruned));
  }
  const typeful = withoutNulls(pruned);
  // Go's decoder gives up at once on a quantity, and reads on after a wrong type.
  const problem = misspelledQuantity(served.kind.schema, typeful);
  if (problem !== undefined) throw refuse(problem);
  checkShape(served.kind, typeful);
  return asWire(withoutEmptyMetadata(typeful));
}

const LEFT_OUT_IF_EMPTY = ['labels', 'annotations', 'finalizers', 'ownerReferences'];

/** Go writes no empty lists and maps of metadata, so nobody ever reads one; patches test for their absence. */
function withoutEmptyMetadata(object: JsonObject): JsonObject {
  const { metadata } = object;
  if (!isObject(metadata)) return object;
  const isEmpty = (name: string) => LEFT_OUT_IF_EMPTY.includes(name) && Object.keys(metadata[name] ?? {}).length === 0;
  const kept = Object.entries(metadata).filter(([name]) => !isEmpty(name));
  return { ...object, metadata: Object.fromEntries(kept) };
}

export const unrecognised = (kind: ServedKind, why: string) =>
  badRequest(`the object provided is unrecognized (must be of type ${kind.kind}): ${why}`);

/** Built-in kinds may leave kind and version out: the path says them. */
function checkType({ kind, apiVersion }: ServedResource, value: JsonObject): JsonObject {
  const { kind: sentKind = '', apiVersion: sentVersion = '' } = value;
  if (kind.origin === 'custom') {
    checkCustomType(kind, apiVersion, value);
  } else if (sentVersion !== '' && sentVersion !== apiVersion) {
    const shown = sentKind === '' ? kind.kind : asText(sentKind);
    throw badRequest(
      `${shown} in version ${JSON.stringify(sentVersion)} cannot be handled as a ${kind.kind}: no kind ${JSON.stringify(shown)} is registered for version ${JSON.stringify(sentVersion)}`,
    );
  } else if (sentKind !== '' && sentKind !== kind.kind) {
    throw badRequest(
      `${asText(sentKind)} in version ${JSON.stringify(kind.version)} cannot be handled as a ${kind.kind}: converting (${kind.version}.${asText(sentKind)}) to (${kind.group === '' ? 'core' : kind.group}.${kind.kind}): unknown conversion`,
    );
  }
  return { ...value, kind: kind.kind, apiVersion, metadata: value['metadata'] ?? {} };
}

function checkCustomType(kind: ServedKind, apiVersion: string, value: JsonObject): void {
  const { kind: sentKind = '', apiVersion: sentVersion = '', metadata } = value;
  if (sentKind === '' || sentVersion === '') {
    const text = JSON.stringify(value);
    throw unrecognised(kind, `Object '${sentKind === '' ? 'Kind' : 'apiVersion'}' is missing in '${text}' (${text})`);
  }
  if (sentVersion !== apiVersion) {
    throw badRequest(
      `the API version in the data (${asText(sentVersion)}) does not match the expected API version (${apiVersion})`,
    );
  }
  if (sentKind === kind.kind) return;
  const name = isObject(metadata) ? asText(metadata['name']) : '';
  throw invalid({ ...kind, kind: asText(sentKind) }, name, [
    { type: 'Invalid', field: 'kind', value: sentKind, detail: `must be ${kind.kind}` },
  ]);
}

const undecodable = ({ kind, version }: ServedKind, why: string) =>
  badRequest(`${kind} in version ${JSON.stringify(version)} cannot be handled as a ${kind}: ${why}`);

/** The real server complains in the order in which it reads. */
function inDocumentOrder(paths: readonly string[], document: JsonObject): readonly string[] {
  if (paths.length < 2) return paths;
  const order: string[] = [];
  const visit = (value: Json, path: string) => {
    order.push(path);
    if (Array.isArray(value)) for (const [index, item] of value.entries()) visit(item, `${path}[${index}]`);
    else if (isObject(value)) {
      for (const [name, member] of Object.entries(value)) visit(member, path === '' ? name : `${path}.${name}`);
    }
  };
  visit(document, '');
  return paths.toSorted((a, b) => order.indexOf(a) - order.indexOf(b));
}

/** A typed server cannot even decode a number where a text belongs. */
function checkShape(kind: ServedKind, object: JsonObject): void {
  const misfit = validate(kind.schema, object).find(({ type }) => type === 'TypeInvalid');
  if (misfit === undefined) return;
  if (typeof misfit.value === 'string' && nodeAt(kind.schema, misfit.field).format === 'byte') {
    throw undecodable(kind, `illegal base64 data at input byte ${misfit.value.search(/[^A-Za-z0-9+/=]/)}`);
  }
  const wanted = goTypeAt(kind.schema, misfit.field);
  throw undecodable(
    kind,
    `json: cannot unmarshal ${jsonTypeName(misfit.value)} into Go struct field ${kind.kind}.${misfit.field} of type ${wanted}`,
  );
}

function goTypeAt(schema: Schema, field: string): string {
  const { type = 'object', format } = nodeAt(schema, field);
  if (type === 'integer' || type === 'number') return format ?? 'int64';
  return type === 'boolean' ? 'bool' : type;
}

function nodeAt(schema: Schema, field: string): JsonSchema {
  let here: Schema | undefined = schema;
  for (const [, name, index] of field.matchAll(/([^.[\]]+)|\[(\d+)\]/g)) {
    here = index === undefined ? here?.property(name ?? '') : here?.items;
  }
  return here?.node ?? {};
}

/** To Go, null is the same as nothing. */
function withoutNulls(object: JsonObject): JsonObject {
  const kept: Record<string, Json> = {};
  for (const [name, value] of Object.entries(object)) {
    if (value === null) continue;
    kept[name] = Array.isArray(value)
      ? value.map((item: Json) => (isObject(item) ? withoutNulls(item) : item))
      : isObject(value)
        ? withoutNulls(value)
        : value;
  }
  return kept;
}
