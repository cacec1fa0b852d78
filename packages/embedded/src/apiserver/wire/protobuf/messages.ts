import { isObject, type Json, type JsonObject } from '../../schema/index.ts';
import messages from './messages.gen.json' with { type: 'json' };
import { fieldsIn } from './reader.ts';

/** Number, name in JSON (empty: a part of its parent), type, and whether Go has a pointer there. */
type Field = readonly [number: number, name: string, type: string, isPointer: number];

const MESSAGES = new Map(
  Object.entries(messages).map(([name, fields]) => [
    name,
    new Map(fields.map((field): [number, Field] => [Number(field[0]), toField(field)])),
  ]),
);

function toField([number, name, type, isPointer]: readonly (string | number)[]): Field {
  return [Number(number), String(name), String(type), Number(isPointer)];
}

export const isKnownMessage = (name: string): boolean => MESSAGES.has(name);

/** A message as the JSON that would say the same. */
export function messageToJson(name: string, bytes: Uint8Array): JsonObject {
  const fields = MESSAGES.get(name);
  if (fields === undefined) throw new Error(`${name} is not known`);
  const object: Record<string, Json> = {};
  for (const { number, value } of fieldsIn(bytes)) {
    const field = fields.get(number);
    if (field !== undefined) put(object, field, value);
  }
  return object;
}

function put(object: Record<string, Json>, [, name, type, isPointer]: Field, value: bigint | Uint8Array): void {
  if (name === '') {
    const part = valueOf(type, value);
    if (isObject(part)) Object.assign(object, part);
  } else if (type.startsWith('[]')) {
    const list = object[name];
    object[name] = [...(Array.isArray(list) ? list : []), valueOf(type.slice(2), value)];
  } else if (type.startsWith('{}')) {
    const map = object[name];
    object[name] = { ...(isObject(map) && map), ...entryOf(type.slice(2), value) };
  } else {
    const json = valueOf(type, value);
    // Go writes its empty values out; JSON leaves them away, unless there is a pointer to them.
    if (isPointer === 1 ? json !== null : !isEmpty(json)) object[name] = json;
  }
}

const isEmpty = (value: Json) =>
  value === null ||
  value === '' ||
  value === 0 ||
  value === false ||
  (isObject(value) && Object.keys(value).length === 0);

function entryOf(type: string, value: bigint | Uint8Array): Readonly<Record<string, Json>> {
  let key = '';
  let json: Json = type === 'string' || type === 'bytes' ? '' : null;
  for (const part of fieldsIn(bytesOf(value))) {
    if (part.number === 1) key = textOf(part.value);
    else json = valueOf(type, part.value);
  }
  return { [key]: json };
}

function valueOf(type: string, value: bigint | Uint8Array): Json {
  switch (type) {
    case 'string':
      return textOf(value);
    case 'bytes':
      return Buffer.from(bytesOf(value)).toString('base64');
    case 'bool':
      return value === 1n;
    case 'int':
      return numberOf(value);
    case 'float64':
      return Buffer.from(bytesOf(value)).readDoubleLE();
    case 'resource.Quantity':
      return partsOf(value).text(1);
    case 'intstr.IntOrString': {
      const parts = partsOf(value);
      return parts.number(1) === 0 ? parts.number(2) : parts.text(3);
    }
    case 'meta/v1.Time':
    case 'meta/v1.MicroTime':
      return timeOf(value, type === 'meta/v1.MicroTime');
    case 'meta/v1.Duration':
      return `${partsOf(value).number(1) / 1e9}s`;
    case 'meta/v1.FieldsV1':
    case 'runtime.RawExtension': {
      const json: Json = JSON.parse(partsOf(value).text(1) || 'null');
      return json;
    }
    default:
      return messageToJson(type, bytesOf(value));
  }
}

/** The moment that Go means by nothing has no seconds. */
function timeOf(value: bigint | Uint8Array, isMicro: boolean): Json {
  const parts = partsOf(value);
  if (!parts.has(1)) return null;
  const seconds = parts.number(1);
  const text = new Date(seconds * 1000).toISOString().slice(0, 19);
  if (!isMicro) return `${text}Z`;
  const micros = Math.floor(parts.number(2) / 1000);
  return `${text}.${String(micros).padStart(6, '0')}Z`;
}

function partsOf(value: bigint | Uint8Array) {
  const parts = new Map(Array.from(fieldsIn(bytesOf(value)), ({ number, value: part }) => [number, part]));
  return {
    has: (number: number) => parts.has(number),
    text: (number: number) => textOf(parts.get(number) ?? new Uint8Array()),
    number: (number: number) => numberOf(parts.get(number) ?? 0n),
  };
}

/** Negative numbers are written as 64 bits of two's complement. */
const numberOf = (value: bigint | Uint8Array) => (typeof value === 'bigint' ? Number(BigInt.asIntN(64, value)) : 0);

const bytesOf = (value: bigint | Uint8Array) => (typeof value === 'bigint' ? new Uint8Array() : value);

const textOf = (value: bigint | Uint8Array) => Buffer.from(bytesOf(value)).toString();
