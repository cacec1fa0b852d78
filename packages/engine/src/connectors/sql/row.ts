import type { Failure, Message, Metadata } from '../../message.ts';
import { decodedString, fieldsOf } from './json-fields.ts';

/** A message on its way into a table. */
export interface Row {
  readonly message: Message;
  /** Its payload as it came: JSON, or nearly (`fieldsOf` does not look closely). */
  readonly body: Buffer;
  /** The keys of the body with the texts of their values; empty if it is no object. */
  readonly fields: ReadonlyMap<string, string>;
  /** Undefined: nobody wants it. */
  readonly metadata: RowMetadata | undefined;
}

export interface RowMetadata {
  /** A JSON object. */
  readonly text: Buffer;
  /** By the names of their columns; empty if it is written as a whole. */
  readonly fields: ReadonlyMap<string, string>;
}

export interface RowForm {
  readonly isWhole: boolean;
  readonly metadata: 'none' | 'json' | 'columns';
  readonly metadataPrefix: string;
}

const NO_FIELDS: ReadonlyMap<string, string> = new Map();

export function rowOf(message: Message, form: RowForm): Row | Failure {
  if (message.payload === null) return refused(message, 'it has no payload');
  const { text } = message.payload;
  const fields = fieldsOf(text);
  if (!form.isWhole) {
    if (!fields) return refused(message, 'its payload is no JSON object');
    return { message, body: message.payload.bytes, fields, metadata: metadataOf(message.metadata, form) };
  }
  // What a raw source made: the body and where it came from, in one.
  const [value, wrapped] = [fields?.get('value'), fields?.get('_metadata')];
  if (form.metadata !== 'none' && fields?.size === 2 && value !== undefined && wrapped !== undefined) {
    return {
      message,
      body: Buffer.from(value),
      fields: fieldsOf(value) ?? NO_FIELDS,
      metadata:
        form.metadata === 'json'
          ? { text: Buffer.from(wrapped), fields: NO_FIELDS }
          : prefixed(fieldsOf(wrapped) ?? NO_FIELDS, form.metadataPrefix),
    };
  }
  return {
    message,
    body: message.payload.bytes,
    fields: fields ?? NO_FIELDS,
    metadata: metadataOf(message.metadata, form),
  };
}

export const refused = (message: Message, because: string): Failure => ({
  message,
  because,
  type: 'invalid_data',
  isRetryable: false,
});

/** The values of these keys, as one text that is equal for equal values however they are spelled: `1` and `"1"`. */
export function identityOf(row: Row, key: readonly string[]): string | undefined {
  const values = key.map((name) => row.fields.get(name));
  if (values.some((json) => json === undefined || json === 'null')) return undefined;
  return values.map((json) => decodedString(json ?? '') ?? json).join('\u0000');
}

function metadataOf(metadata: Metadata, { metadata: form, metadataPrefix }: RowForm): RowMetadata | undefined {
  if (form === 'none') return undefined;
  if (form === 'json') return { text: Buffer.from(JSON.stringify(printable(metadata))), fields: NO_FIELDS };
  const fields = Object.entries(metadata).flatMap(([key, value]): [string, string][] => {
    const json = JSON.stringify(printable(key === 'timestamp' ? moment(value) : value));
    return json === undefined ? [] : [[key, json]];
  });
  return prefixed(fields, metadataPrefix);
}

function prefixed(fields: Iterable<readonly [string, string]>, prefix: string): RowMetadata {
  const named = new Map([...fields].map(([key, json]) => [prefix + key, json]));
  const text = [...named].map(([name, json]) => `${JSON.stringify(name)}:${json}`).join(',');
  return { text: Buffer.from(`{${text}}`), fields: named };
}

/** Sources stamp in milliseconds since the epoch. */
const moment = (value: unknown): unknown =>
  typeof value === 'number' || typeof value === 'bigint' ? new Date(Number(value)).toISOString() : value;

/** JSON knows neither bytes nor integers of any size; the key of a record may be the one, an offset the other. */
function printable(value: unknown): unknown {
  if (typeof value === 'bigint') return JSON.rawJSON(value.toString());
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
  if (Array.isArray(value)) return value.map(printable);
  if (value instanceof Map) return printable(Object.fromEntries(value));
  // What prints itself (a moment, a number with its spelling) is left to do so.
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, printable(inner)]));
}
