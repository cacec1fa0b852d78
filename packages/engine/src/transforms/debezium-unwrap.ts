import {
  entriesOf,
  get,
  isObject,
  type Json,
  type JsonObject,
  parseJson,
  printJson,
  withMember,
} from '../json/index.ts';
import type { Message } from '../message.ts';
import { withDocument } from './document.ts';
import { ConfigError, type Transform, TransformError } from './transform.ts';

export interface DebeziumUnwrapConfig {
  /** Makes a delete of a message without value, by its key; else it is dropped. */
  readonly inferDeleteFromTombstone?: boolean;
  /** Every field of `payload.source` as metadata `source_<field>`. */
  readonly includeSourceInMetadata?: boolean;
  /** What a row of a snapshot counts as. Default: `insert`. */
  readonly snapshotOperation?: 'insert' | 'update';
  /** `__op` and `__deleted` in the row. */
  readonly addOperationFields?: boolean;
  /** Fields of `payload.source` in the row as `source_<field>`. */
  readonly addSourceFields?: readonly string[];
}

interface Change {
  readonly op: string;
  readonly operation: 'insert' | 'update' | 'delete';
  readonly row: JsonObject;
  readonly source: JsonObject | undefined;
}

/** The row out of an envelope of Debezium, and what happened to it as metadata `operation`. */
export function debeziumUnwrap(config: DebeziumUnwrapConfig = {}): Transform {
  const { snapshotOperation = 'insert' } = config;
  if (snapshotOperation !== 'insert' && snapshotOperation !== 'update') {
    throw new ConfigError('snapshotOperation', `'${String(snapshotOperation)}' is neither 'insert' nor 'update'`);
  }
  return (message) => {
    if (isTombstone(message)) {
      const row = config.inferDeleteFromTombstone ? rowOfKey(message.metadata['key']) : undefined;
      if (row === undefined) return [];
      return [unwrapped(message, { op: 'd', operation: 'delete', row, source: undefined }, config)];
    }
    const change = changeIn(message.payload?.json, snapshotOperation);
    return [change === undefined ? message : unwrapped(message, change, config)];
  };
}

const OPERATIONS: ReadonlyMap<string, Change['operation'] | 'snapshot'> = new Map([
  ['c', 'insert'],
  ['u', 'update'],
  ['r', 'snapshot'],
  ['d', 'delete'],
]);

const isTombstone = ({ payload }: Message) => payload === null || payload.isEmpty;

function changeIn(document: Json | undefined, snapshotOperation: 'insert' | 'update'): Change | undefined {
  const payload = isObject(document) ? get(document, 'payload') : undefined;
  if (!isObject(payload)) return undefined;
  const op = get(payload, 'op');
  const operation = typeof op === 'string' ? OPERATIONS.get(op) : undefined;
  // No envelope, or nothing that happened to a row: a truncated table, a message of the application.
  if (typeof op !== 'string' || operation === undefined) return undefined;
  const side = operation === 'delete' ? 'before' : 'after';
  const row = get(payload, side);
  if (!isObject(row)) throw new TransformError(`payload.op is '${op}', but payload.${side} is no object`);
  const source = get(payload, 'source');
  return {
    op,
    operation: operation === 'snapshot' ? snapshotOperation : operation,
    row,
    source: isObject(source) ? source : undefined,
  };
}

function unwrapped(message: Message, { op, operation, row, source }: Change, config: DebeziumUnwrapConfig): Message {
  let document = row;
  if (config.addOperationFields) {
    document = withMember(document, '__op', op);
    document = withMember(document, '__deleted', String(operation === 'delete'));
  }
  for (const field of config.addSourceFields ?? []) {
    const value = source && get(source, field);
    if (value !== undefined) document = withMember(document, `source_${field}`, value);
  }
  const told = config.includeSourceInMetadata && source ? sourceMetadata(source) : {};
  return withDocument({ ...message, metadata: { ...message.metadata, ...told, operation } }, document);
}

/** Ordinary values: whoever reads metadata knows nothing of exact numbers. */
const sourceMetadata = (source: JsonObject): Record<string, string | number | boolean | null> =>
  Object.fromEntries(
    [...entriesOf(source)].map(([key, value]) => [
      `source_${key}`,
      typeof value === 'object' && value !== null ? printJson(value) : value,
    ]),
  );

/** The key of the record names the row. With schemas it comes in an envelope of its own. */
function rowOfKey(key: unknown): JsonObject | undefined {
  const text = Buffer.isBuffer(key) ? key.toString('utf8') : key;
  const value = typeof text === 'string' ? parseJson(text) : undefined;
  if (!isObject(value)) return undefined;
  const payload = get(value, 'payload');
  return get(value, 'schema') !== undefined && isObject(payload) ? payload : value;
}
