import { parse as parseYaml } from 'yaml';
import { isObject, type Json } from '../schema/schema.ts';
import type { ServedKind, WireMeta, WireObject } from '../served-kind.ts';
import { badRequest, StatusError } from '../status.ts';

/** The real server's limit on a request body. */
const LARGEST_BODY = 3 * 1024 * 1024;

export function checkSize(body: string | undefined): void {
  if (body !== undefined && body.length > LARGEST_BODY) {
    throw new StatusError(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${LARGEST_BODY}`);
  }
}

/** The media type without its parameters. */
export const mediaType = (contentType: string | undefined) => (contentType ?? '').split(';')[0]?.trim() ?? '';

export interface DecodedBody {
  readonly value: Json;
  /** The text as JSON, for checks that a parsed value no longer allows (keys given twice). */
  readonly text: string;
}

/** The body of a create or an update: JSON or YAML. */
export function decodeObject(body: string | undefined, contentType: string | undefined, kind: ServedKind): DecodedBody {
  const type = mediaType(contentType);
  const text = body ?? '';
  if (type === 'application/yaml') return decodeYaml(text);
  if (type !== 'application/json' && type !== '') {
    throw new StatusError(
      415,
      'UnsupportedMediaType',
      'the body of the request was in an unknown format - accepted media types include: application/json, application/yaml',
    );
  }
  try {
    const value: Json = JSON.parse(text);
    return { value, text };
  } catch (error) {
    const shown = text === '' ? '<empty>' : text.slice(0, 100);
    throw badRequest(
      `the object provided is unrecognized (must be of type ${kind.kind}): couldn't get version/kind; json parse error: ${jsonError(error)} (${shown})`,
    );
  }
}

const jsonError = (error: unknown) => (error instanceof Error ? error.message : String(error));

export function decodeYaml(text: string): DecodedBody {
  try {
    const value: Json = parseYaml(text);
    return { value, text: JSON.stringify(value) };
  } catch (error) {
    throw badRequest(`error decoding YAML: ${jsonError(error)}`);
  }
}

/** Whether a value has the shape that all verbs rely on; which kind it is of is not looked at. */
export function asObject(value: Json, kind: ServedKind): WireObject {
  if (!isObject(value)) {
    throw badRequest(`the object provided is unrecognized (must be of type ${kind.kind}): couldn't get version/kind`);
  }
  const metadata = value['metadata'] ?? {};
  if (!isMetadata(metadata)) {
    throw badRequest(
      `${kind.kind} in version ${JSON.stringify(kind.version)} cannot be handled as a ${kind.kind}: metadata must be an object`,
    );
  }
  return { ...value, apiVersion: String(value['apiVersion'] ?? ''), kind: String(value['kind'] ?? ''), metadata };
}

/** Names, labels and the like are checked when the object is validated. */
function isMetadata(value: Json | WireMeta): value is WireMeta {
  return isObject(value);
}
