import type { JsonObject } from '../../schema/index.ts';
import { isKnownMessage, messageToJson } from './messages.ts';
import { fieldsIn } from './reader.ts';

export const PROTOBUF = 'application/vnd.kubernetes.protobuf';

const MAGIC = Buffer.from('k8s\0');

/**
 * A request body in protobuf, which is what kubectl sends for built-in kinds whatever it accepts in return. The body is a
 * text of bytes (latin1). Undefined for a kind whose messages are not known.
 */
export function decodeProtobuf(body: string): JsonObject | undefined {
  const bytes = Buffer.from(body, 'latin1');
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC)) return undefined;
  let type: Uint8Array = new Uint8Array();
  let raw: Uint8Array = new Uint8Array();
  for (const { number, value } of fieldsIn(bytes.subarray(MAGIC.length))) {
    if (typeof value === 'bigint') continue;
    if (number === 1) type = value;
    if (number === 2) raw = value;
  }
  const [apiVersion = '', kind = ''] = typeIn(type);
  const name = [`${packageOf(apiVersion)}.${kind}`, `meta/v1.${kind}`].find(isKnownMessage);
  return name === undefined ? undefined : { apiVersion, kind, ...messageToJson(name, raw) };
}

function typeIn(bytes: Uint8Array): readonly string[] {
  const texts: string[] = [];
  for (const { number, value } of fieldsIn(bytes)) {
    if (typeof value !== 'bigint') texts[number - 1] = Buffer.from(value).toString();
  }
  return texts;
}

/** `rbac.authorization.k8s.io/v1` is `rbac/v1` among the messages, `v1` is `core/v1`. */
function packageOf(apiVersion: string): string {
  const [group = '', version] = apiVersion.split('/');
  return version === undefined ? `core/${group}` : `${group.split('.')[0] ?? ''}/${version}`;
}
