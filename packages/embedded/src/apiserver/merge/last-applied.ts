import { isObject, type Json, type JsonObject } from '../schema/schema.ts';
import { compareValues } from './comparison.ts';
import { FieldSet } from './field-set.ts';
import { goJson } from './go-format.ts';
import type { Shape } from './shape.ts';
import { misfitOf } from './shape-errors.ts';
import { metadataOf } from './tracking.ts';
import { fieldsOf } from './typed-fields.ts';

/**
 * `kubectl apply` without `--server-side` keeps what it applied in an annotation and writes as an updater. When the same
 * user then applies on the server, those fields are kubectl's already: they are no conflict, and the annotation follows,
 * so that going back works too. The server knows kubectl by this name alone.
 */
export const KUBECTL = 'kubectl';

const ANNOTATION = 'kubectl.kubernetes.io/last-applied-configuration';

/** The server's limit on all annotations of an object together, in bytes. */
const MOST_BYTES = 256 * 1024;

function annotationsOf(object: JsonObject): JsonObject {
  const { annotations } = metadataOf(object);
  return isObject(annotations) ? annotations : {};
}

/** The fields that still are as the annotation says. */
export function lastAppliedFields(live: JsonObject, shape: Shape): FieldSet {
  const last = parse(annotationsOf(live)[ANNOTATION]);
  if (last === undefined || last.apiVersion !== live.apiVersion || misfitOf(last, shape) !== undefined) {
    return FieldSet.empty;
  }
  const { added, removed, modified } = compareValues(last, live, shape);
  return fieldsOf(last, shape).difference(added.union(removed).union(modified));
}

function parse(text: Json | undefined): JsonObject | undefined {
  if (typeof text !== 'string' || text === '') return undefined;
  try {
    const value: Json = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Brings the annotation up to date, if the object has it. */
export function withLastApplied(object: JsonObject, applied: JsonObject): JsonObject {
  const { [ANNOTATION]: last, ...others } = annotationsOf(object);
  if (typeof last !== 'string' || last === '') return object;
  const annotations = { ...others, [ANNOTATION]: `${goJson(withoutAnnotation(applied))}\n` };
  const isTooLarge = Buffer.byteLength(Object.entries(annotations).flat().join('')) > MOST_BYTES;
  return { ...object, metadata: { ...metadataOf(object), annotations: isTooLarge ? others : annotations } };
}

function withoutAnnotation(applied: JsonObject): JsonObject {
  const { [ANNOTATION]: last, ...annotations } = annotationsOf(applied);
  return last === undefined ? applied : { ...applied, metadata: { ...metadataOf(applied), annotations } };
}
