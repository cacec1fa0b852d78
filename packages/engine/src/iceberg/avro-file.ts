/**
 * Avro's container files, the form of manifests. Fields are known by their `field-id`, never by their names, which writers are
 * free to choose: a record is decoded into an object whose keys are `f` and the id.
 */
import { createHash } from 'node:crypto';
import { deflateRawSync, inflateRawSync, zstdDecompressSync } from 'node:zlib';
import avro, { type Schema, type Type } from 'avsc';
import { exactLong, isLong } from '../avro/types.ts';
import { isArray, isObject, type Json, type JsonObject, OrderedObject, parseJson } from '../json/index.ts';
import { messageOf } from '../log.ts';
import { unsupported } from './trouble.ts';

export interface AvroFile {
  /** What the writer put into the header, beside the schema and the codec. */
  readonly metadata: ReadonlyMap<string, string>;
  readonly records: readonly AvroRecord[];
}

/** By `f` and the field id; longs are bigints, bytes are Buffers, optional fields may be null. */
export type AvroRecord = Readonly<Record<string, unknown>>;

const MAGIC = Buffer.from('Obj\u0001');
const SYNC_BYTES = 16;

const headerType = avro.Type.forSchema({
  type: 'record',
  name: 'Header',
  fields: [
    { name: 'magic', type: { type: 'fixed', name: 'Magic', size: MAGIC.length } },
    { name: 'meta', type: { type: 'map', values: 'bytes' } },
    { name: 'sync', type: { type: 'fixed', name: 'Sync', size: SYNC_BYTES } },
  ],
});
const longType = avro.Type.forSchema('long');

/** `schema`: with the names and ids as they are to be written; `records`: by `f` and the id. */
export function encodeAvro(
  schema: JsonObject,
  metadata: ReadonlyMap<string, string>,
  records: readonly AvroRecord[],
): Buffer {
  const type = typeOf(schema);
  const data = deflateRawSync(Buffer.concat(records.map((record) => type.toBuffer(record))));
  const schemaText = JSON.stringify(schema);
  const meta: Record<string, Buffer> = { 'avro.schema': Buffer.from(schemaText), 'avro.codec': Buffer.from('deflate') };
  for (const [key, value] of metadata) meta[key] = Buffer.from(value);
  // Any 16 bytes that are not in the data by chance. Made of the data, equal files are equal byte for byte.
  const sync = createHash('sha256').update(schemaText).update(data).digest().subarray(0, SYNC_BYTES);
  const header = headerType.toBuffer({ magic: MAGIC, meta, sync });
  const block = [longType.toBuffer(records.length), longType.toBuffer(data.length), data, sync];
  return Buffer.concat(records.length > 0 ? [header, ...block] : [header]);
}

export function decodeAvro(bytes: Buffer, what: string): AvroFile {
  try {
    return decoded(bytes);
  } catch (error) {
    throw unsupported(`${what} can't be read: ${messageOf(error)}`);
  }
}

function decoded(bytes: Buffer): AvroFile {
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC)) throw new Error('it is no Avro file');
  const header: { value: { meta: Record<string, Buffer>; sync: Buffer }; offset: number } = headerType.decode(bytes, 0);
  const metadata = new Map(Object.entries(header.value.meta).map(([key, value]) => [key, value.toString()]));
  const schema = parseJson(metadata.get('avro.schema') ?? '');
  if (!isObject(schema)) throw new Error('its header has no schema');
  const type = typeOf(schema);
  const decompress = decompressor(metadata.get('avro.codec') ?? 'null');
  const records: AvroRecord[] = [];
  for (let at = header.offset; at < bytes.length; ) {
    const count: { value: number; offset: number } = longType.decode(bytes, at);
    const size: { value: number; offset: number } = longType.decode(bytes, count.offset);
    const end = size.offset + size.value;
    if (count.offset < 0 || size.offset < 0 || end + SYNC_BYTES > bytes.length) throw new Error('it ends too early');
    const data = decompress(bytes.subarray(size.offset, end));
    for (let left = count.value, from = 0; left > 0; left--) {
      const one: { value: AvroRecord; offset: number } = type.decode(data, from);
      if (one.offset < 0) throw new Error('a block of it ends too early');
      records.push(one.value);
      from = one.offset;
    }
    at = end + SYNC_BYTES;
  }
  return { metadata, records };
}

function decompressor(codec: string): (data: Buffer) => Buffer {
  switch (codec) {
    case 'null':
      return (data) => data;
    case 'deflate':
      return (data) => inflateRawSync(data);
    case 'zstandard':
      return (data) => zstdDecompressSync(data);
    default:
      throw new Error(`it is compressed with ${codec}`);
  }
}

function typeOf(schema: JsonObject): Type {
  const byId: Schema = JSON.parse(JSON.stringify(withIdsForNames(schema)));
  return avro.Type.forSchema(byId, {
    registry: { long: exactLong },
    typeHook: (one) => (isLong(one) ? exactLong : undefined),
    // Optional fields are the only unions there are.
    wrapUnions: 'never',
    omitRecordMethods: true,
  });
}

/** The same schema with every field called by its id. What a reader need not understand (logical types) goes. */
function withIdsForNames(schema: Json): Json {
  if (isArray(schema)) return schema.map(withIdsForNames);
  if (!isObject(schema) || schema instanceof OrderedObject) return schema;
  const { logicalType: _, fields, ...rest } = schema;
  const renamed: Record<string, Json> = {};
  for (const [key, value] of Object.entries(rest))
    renamed[key] = key === 'name' || key === 'symbols' ? value : withIdsForNames(value);
  if (isArray(fields)) renamed['fields'] = fields.map(fieldById);
  return renamed;
}

function fieldById(field: Json): Json {
  if (!isObject(field) || field instanceof OrderedObject) return field;
  const { 'field-id': id, name = null, type = null } = field;
  return { name: typeof id === 'number' ? `f${id}` : name, type: withIdsForNames(type) };
}
