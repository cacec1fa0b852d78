import { parseJson } from '../exact-json.ts';
import { applyJsonPatch } from '../merge/index.ts';
import { asText } from '../object-text.ts';
import { isObject, type Json, type JsonObject } from '../schema/index.ts';
import { internalError, StatusError } from '../status.ts';

/** What a webhook answered. */
export interface Verdict {
  readonly warnings: readonly string[];
  /** Operations of a JSON patch. */
  readonly patch: Json | undefined;
}

/** Reads an AdmissionReview; throws the refusal of a webhook that does not allow the request. */
export function verdictIn(text: string, webhook: string, uid: string): Verdict {
  const response = responseIn(text, webhook, uid);
  const { allowed, status, patch, patchType, warnings } = response;
  const told = Array.isArray(warnings) ? warnings.map(String) : [];
  if (allowed !== true) throw denied(webhook, isObject(status) ? status : {});
  if (typeof patch !== 'string' || patch === '') return { warnings: told, patch: undefined };
  if (patchType !== 'JSONPatch') {
    throw internalError(`webhook returned response.patch but not response.patchType of JSONPatch`);
  }
  return { warnings: told, patch: parseJson(Buffer.from(patch, 'base64').toString()) };
}

function responseIn(text: string, webhook: string, uid: string): JsonObject {
  const review = parsed(text);
  const response = isObject(review) ? review['response'] : undefined;
  if (!isObject(response)) throw new Error(`Webhook ${JSON.stringify(webhook)} returned no response`);
  if (response['uid'] !== uid) {
    throw new Error(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(response['uid'] ?? '')}`);
  }
  return response;
}

function parsed(text: string): Json {
  try {
    return parseJson(text);
  } catch {
    throw new Error('the answer is no JSON');
  }
}

function denied(webhook: string, { message, reason, code, details }: JsonObject): StatusError {
  const by = `admission webhook ${JSON.stringify(webhook)} denied the request`;
  const why = [message, reason].find((text) => typeof text === 'string' && text !== '');
  return new StatusError(
    // A refusal is never a success, whatever the webhook says.
    typeof code === 'number' && code >= 400 ? code : 400,
    typeof reason === 'string' ? reason : '',
    why === undefined ? `${by} without explanation` : `${by}: ${asText(why)}`,
    isObject(details) ? details : undefined,
  );
}

export function patchedBy(object: JsonObject, patch: Json, webhook: string): JsonObject {
  const patched = applyJsonPatch(object, patch);
  if (!isObject(patched))
    throw internalError(`webhook ${JSON.stringify(webhook)} returned a patch that leaves no object`);
  return patched;
}
