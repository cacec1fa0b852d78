import { parse as parseYaml } from 'yaml';
import { mayExceedNumbers, parseJson, whole } from '../exact-json.ts';
import { duplicateKeys } from '../schema/duplicate-keys.ts';
import type { Json } from '../schema/index.ts';
import type { ServedKind } from '../served-kind.ts';
import { badRequest, noSuchPath, StatusError } from '../status.ts';
import { type Body, unrecognised } from '../verbs/decode.ts';
import type { PatchType } from '../verbs/patch.ts';
import { decodeProtobuf, PROTOBUF } from './protobuf/index.ts';

/** The real server's limit on a request body. */
const LARGEST_BODY = 3 * 1024 * 1024;

export function checkSize(body: string | undefined): void {
  if (body !== undefined && body.length > LARGEST_BODY) {
    throw new StatusError(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${LARGEST_BODY}`);
  }
}

/** The media type without its parameters. */
const mediaType = (contentType: string | undefined) => (contentType ?? '').split(';')[0]?.trim() ?? '';

/** The body of a create or an update: JSON or YAML. */
export function objectBody(body: string | undefined, contentType: string | undefined, kind: ServedKind): Body {
  const text = body ?? '';
  switch (mediaType(contentType)) {
    case 'application/yaml':
      return yamlBody(text);
    case PROTOBUF:
      return protobufBody(text);
    case 'application/json':
    case '':
      return jsonBody(text, (why) =>
        unrecognised(
          kind,
          `couldn't get version/kind; json parse error: ${why} (${text === '' ? '<empty>' : text.slice(0, 100)})`,
        ),
      );
    default:
      throw unknownFormat();
  }
}

const unknownFormat = () =>
  new StatusError(
    415,
    'UnsupportedMediaType',
    'the body of the request was in an unknown format - accepted media types include: application/json, application/yaml',
  );

const PATCH_TYPES: Readonly<Record<string, PatchType>> = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
  'application/apply-patch+yaml': 'apply',
};

/** Strategic patches need Go types to go by; custom resources have none. */
export function patchTypeOf(contentType: string | undefined, kind: ServedKind): PatchType {
  const type = PATCH_TYPES[mediaType(contentType)];
  if (type === undefined) throw new StatusError(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {});
  if (type === 'strategic' && kind.origin === 'custom') {
    throw new StatusError(
      415,
      'UnsupportedMediaType',
      'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml',
    );
  }
  return type;
}

export function patchBody(body: string | undefined, type: PatchType): Body {
  const text = body ?? '';
  if (type === 'apply') return yamlBody(text);
  return jsonBody(text, (why) => badRequest(`error decoding patch: ${why}`));
}

/** Deletions and reviews: JSON, or nothing at all. */
export function optionalBody(body: string | undefined, contentType: string | undefined): Json | undefined {
  if (body === undefined || body === '') return undefined;
  if (mediaType(contentType) === PROTOBUF) return protobufBody(body).value;
  return jsonBody(body, (why) => badRequest(`couldn't get version/kind; json parse error: ${why}`)).value;
}

function jsonBody(text: string, refuse: (why: string) => StatusError): Body {
  try {
    return { value: parseJson(text), text };
  } catch (error) {
    throw refuse(text === '' ? 'unexpected end of JSON input' : goMessage(error));
  }
}

function protobufBody(text: string): Body {
  try {
    const value = decodeProtobuf(text);
    if (value !== undefined) return { value };
  } catch (error) {
    throw badRequest(`error decoding protobuf: ${goMessage(error)}`);
  }
  throw unknownFormat();
}

function yamlBody(text: string): Body {
  try {
    return { value: text.trimStart().startsWith('{') ? jsonOrYaml(text) : parsedYaml(text) };
  } catch (error) {
    throw badRequest(`error decoding YAML: ${goMessage(error)}`);
  }
}

/** Most of what is applied is JSON all the same, which is read many times faster. YAML refuses keys given twice. */
function jsonOrYaml(text: string): Json {
  try {
    const value = parseJson(text);
    if (duplicateKeys(text).length === 0) return value;
  } catch {
    // Flow style, or broken in a way that YAML's words say better.
  }
  return parsedYaml(text);
}

function parsedYaml(text: string): Json {
  if (!mayExceedNumbers(text)) {
    const value: Json = parseYaml(text);
    return value;
  }
  const value: Json = parseYaml(text, (_, one: unknown) => (typeof one === 'bigint' ? whole(one) : one), {
    intAsBigInt: true,
  });
  return value;
}

const goMessage = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** Percent-encoding that cannot be read leads nowhere. */
export function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw noSuchPath();
  }
}
