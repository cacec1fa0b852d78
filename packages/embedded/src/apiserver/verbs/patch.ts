import { misspelledQuantity } from '../builtin/index.ts';
import {
  applyConfiguration,
  applyConflict,
  applyJsonPatch,
  applyMergePatch,
  applyStrategicMergePatch,
  ignoredFields,
  settleTimes,
} from '../merge/index.ts';
import { asJson, asText, asWire } from '../object-text.ts';
import { isObject, type Json, type JsonObject } from '../schema/schema.ts';
import type { WireObject } from '../served-kind.ts';
import { badRequest, conflict, type FieldError, invalid, type StatusError, unnamed } from '../status.ts';
import { type Call, keyIn } from './call.ts';
import { createObject } from './create.ts';
import { type Body, decode } from './decode.ts';
import { tracked } from './finish.ts';
import { type WriteOptions, writeOptions } from './options.ts';
import { revise, type Written } from './update.ts';

export type PatchType = 'json' | 'merge' | 'strategic' | 'apply';

export async function patch(call: Call, type: PatchType, body: Body): Promise<Written> {
  const options = writeOptions(call, 'PatchOptions');
  checkOptions(call, type, options);
  if (type === 'apply') return apply(call, options, body);
  const entry = await revise(call, options, (live) => ({
    wanted: decode(call, { value: patched(call, type, body.value, asJson(live)) }, options, (why) =>
      invalidPatch(call, body, why),
    ),
    own: (before, object) => tracked(call, before, object, options.fieldManager),
  }));
  return { entry, isCreated: false };
}

/** What strict decoding finds in a patched object is held against the patch. */
const invalidPatch = ({ served, name = '' }: Call, { text, value }: Body, detail: string) =>
  invalid(served.kind, name, [{ type: 'Invalid', field: 'patch', value: text ?? JSON.stringify(value), detail }]);

/** The live object with a patch laid over it. */
export function patched(call: Call, type: Exclude<PatchType, 'apply'>, patch: Json, live: JsonObject): JsonObject {
  const result = patchedValue(call, type, patch, live);
  if (!isObject(result)) throw badRequest('the patch leaves no object');
  const { metadata } = result;
  // A version in the patch is a condition; the one of the live object is none.
  const sent = isObject(patch) && isObject(patch['metadata']) ? patch['metadata']['resourceVersion'] : undefined;
  if (sent !== undefined || !isObject(metadata) || type === 'json') return result;
  const { resourceVersion: _, ...rest } = metadata;
  return { ...result, metadata: rest };
}

function patchedValue(call: Call, type: Exclude<PatchType, 'apply'>, patch: Json, live: JsonObject): Json {
  switch (type) {
    case 'json':
      return withoutUnchangedVersion(applyJsonPatch(live, patch), live);
    case 'merge':
      return applyMergePatch(live, patch);
    case 'strategic':
      return applyStrategicMergePatch(live, patch, call.served.kind.schema);
  }
}

/** A JSON patch that leaves the version alone does not ask for it. */
function withoutUnchangedVersion(patched: Json, live: JsonObject): Json {
  if (!isObject(patched) || !isObject(patched['metadata']) || !isObject(live['metadata'])) return patched;
  const { resourceVersion, ...metadata } = patched['metadata'];
  return resourceVersion === live['metadata']['resourceVersion'] ? { ...patched, metadata } : patched;
}

function checkOptions(call: Call, type: PatchType, { force }: WriteOptions): void {
  const errors: FieldError[] = [];
  if (type === 'apply' && !call.query.get('fieldManager')) {
    errors.push({ type: 'Required', field: 'fieldManager', detail: 'is required for apply patch' });
  }
  if (type !== 'apply' && force !== undefined) {
    errors.push({ type: 'Forbidden', field: 'force', detail: 'may not be specified for non-apply patch' });
  }
  if (errors.length > 0) throw invalid({ group: 'meta.k8s.io', plural: '', kind: 'PatchOptions' }, '', errors);
}

async function apply(call: Call, options: WriteOptions, body: Body): Promise<Written> {
  const { served, name = '' } = call;
  const applied = configuration(call, body);
  const merged = (live: WireObject | undefined): WireObject => {
    const outcome = applyConfiguration({
      kind: served.kind,
      manager: options.fieldManager,
      subresource: call.subresource,
      time: call.core.clock.now(),
      ignored: ignoredFields(served.kind, call.subresource),
      live: live && asJson(live),
      applied,
      force: options.force ?? false,
    });
    if (outcome.outcome === 'conflict') throw applyConflict(outcome.conflicts);
    const problem = misspelledQuantity(served.kind.schema, outcome.object);
    if (problem !== undefined) throw unconvertible(call, problem);
    return asWire(outcome.object);
  };
  const exists = call.core.store.cache(served.resource).get(keyIn(call, name)) !== undefined;
  if (!exists && call.subresource === undefined) {
    if (isObject(applied['metadata']) && applied['metadata']['uid'] !== undefined) throw missingByUid(call, applied);
    const object = merged(undefined);
    // Ownership is settled by the merge, and defaults belong to nobody.
    const entry = await createObject(call, object, options, (whole) => whole);
    return { entry, isCreated: true };
  }
  const entry = await revise(call, options, (live) => {
    const wanted = merged(live);
    const asked = isObject(applied['metadata']) ? applied['metadata']['resourceVersion'] : undefined;
    const metadata = { ...wanted.metadata, resourceVersion: typeof asked === 'string' ? asked : '' };
    return {
      wanted: { ...wanted, metadata },
      own: (before, object) => asWire(settleTimes(asJson(before), asJson(object))),
    };
  });
  return { entry, isCreated: false };
}

function configuration(call: Call, body: Body): JsonObject {
  const { value } = body;
  if (!isObject(value)) throw badRequest('error decoding YAML: the body is no object');
  const sent = isObject(value['metadata']) ? value['metadata'] : {};
  const { name = '' } = call;
  if (sent['name'] !== undefined && sent['name'] !== name) {
    throw badRequest(`the name of the object (${asText(sent['name'])}) does not match the name on the URL (${name})`);
  }
  // Not decoded like other bodies: an apply with a field that the kind does not have is refused when it is merged.
  return {
    ...value,
    metadata: { ...sent, name, ...(call.namespace !== undefined && { namespace: call.namespace }) },
  };
}

/** Merged without types, the object is given its Go type at last: to the real server a failure of its own. */
function unconvertible({ served, namespace = '', name = '' }: Call, why: string): StatusError {
  const type = `${served.kind.group}/${served.kind.version}, Kind=${served.kind.kind}`;
  return unnamed(
    `failed to convert new object (${namespace}/${name}; ${type}) to proper version: unable to convert unstructured object to ${type}: ${why}`,
  );
}

/** An apply with a uid means one certain object; it must not bring another one into being. */
function missingByUid(call: Call, applied: JsonObject): StatusError {
  const uid = isObject(applied['metadata']) ? applied['metadata']['uid'] : '';
  return conflict(
    call.served.kind,
    call.name ?? '',
    `uid mismatch: the provided object specified uid ${asText(uid)}, and no existing object was found`,
  );
}
