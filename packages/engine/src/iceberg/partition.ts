/** Which partition a row belongs to: the transforms of a partition spec. */
import type { Json } from '../json/index.ts';
import type { AvroRecord } from './avro-file.ts';
import { bytesOfCell, decimalLength, longBytes, twosComplement } from './binary.ts';
import type { Cell } from './cell.ts';
import type { PartitionField, PartitionSpec } from './metadata.ts';
import { murmur3 } from './murmur3.ts';
import { unsupported } from './trouble.ts';
import { isPrimitive, type PrimitiveType, type Schema } from './types.ts';

export interface PartitionTuple {
  /** Equal for rows of one partition. */
  readonly key: string;
  /** As a manifest holds it. */
  readonly record: AvroRecord;
}

/** Tells the partition of a row by the cells of the columns at the top, in the order of the schema. */
export type Partitioner = (cells: readonly Cell[]) => PartitionTuple;

interface Transform {
  readonly result: PrimitiveType;
  readonly apply: (cell: Cell) => Cell;
}

export function partitionerOf(spec: PartitionSpec, schema: Schema): Partitioner {
  const parts = spec.fields.map((field) => {
    const at = schema.fields.findIndex(({ id }) => id === field.sourceId);
    const { result, apply } = transformOf(field, schema);
    return { name: `f${field.id}`, of: (cells: readonly Cell[]) => avroValue(result, apply(cells[at] ?? null)) };
  });
  return (cells) => {
    const record: Record<string, unknown> = {};
    let key = '';
    for (const { name, of } of parts) {
      const value = of(cells);
      record[name] = value;
      key += `${JSON.stringify(Buffer.isBuffer(value) ? value.toString('hex') : typeof value === 'bigint' ? String(value) : value)},`;
    }
    return { key, record };
  };
}

/** The Avro type of the tuple. */
export function partitionSchema(spec: PartitionSpec, schema: Schema): Json {
  const fields = spec.fields.map((field) => ({
    name: avroName(field.name),
    type: ['null', avroType(transformOf(field, schema).result, field.id)],
    default: null,
    'field-id': field.id,
  }));
  return { type: 'record', name: 'r102', fields };
}

function transformOf({ name, sourceId, transform }: PartitionField, schema: Schema): Transform {
  const source = schema.fields.find(({ id }) => id === sourceId);
  if (source === undefined || !isPrimitive(source.type))
    throw unsupported(
      `partition field "${name}" is not made of a column at the top of the table: such a table can't be written`,
    );
  const { type } = source;
  const refuse = () =>
    unsupported(`partition field "${name}" has the transform ${transform}, which can't be applied to its column`);
  const [, kind = '', parameter = '0'] = /^(\w+)(?:\[(\d+)\])?$/.exec(transform) ?? [];
  switch (kind) {
    case 'identity':
      return { result: type, apply: (cell) => cell };
    case 'void':
      return { result: type, apply: () => null };
    case 'bucket':
      return {
        result: { kind: 'int' },
        apply: nullOr((cell) => bucketOf(type, cell, Number(parameter)) ?? fail(refuse)),
      };
    case 'truncate':
      return { result: type, apply: nullOr((cell) => truncated(cell, Number(parameter)) ?? fail(refuse)) };
    case 'year':
    case 'month':
    case 'day':
    case 'hour': {
      if (type.kind !== 'date' && type.kind !== 'timestamp' && type.kind !== 'timestamp-ns') throw refuse();
      const perDay = { date: 1n, timestamp: 86_400_000_000n, 'timestamp-ns': 86_400_000_000_000n }[type.kind];
      const result: PrimitiveType = { kind: kind === 'day' ? 'date' : 'int' };
      return { result, apply: nullOr((cell) => calendarUnit(cell, kind, perDay)) };
    }
    default:
      throw refuse();
  }
}

const nullOr =
  (apply: (cell: Exclude<Cell, null>) => Cell) =>
  (cell: Cell): Cell =>
    cell === null ? null : apply(cell);

function fail(refuse: () => Error): never {
  throw refuse();
}

/** 32-bit values hash as if they had 64, so that a column keeps its buckets when it is widened. */
function bucketOf(type: PrimitiveType, cell: Cell, count: number): number | undefined {
  const hashed =
    type.kind === 'int' || type.kind === 'date'
      ? typeof cell === 'number'
        ? longBytes(BigInt(cell))
        : undefined
      : type.kind === 'boolean' || type.kind === 'float' || type.kind === 'double'
        ? undefined
        : bytesOfCell(type, cell);
  return hashed === undefined ? undefined : (murmur3(hashed) & 0x7fffffff) % count;
}

function truncated(cell: Cell, width: number): Cell | undefined {
  if (typeof cell === 'number') return cell - (((cell % width) + width) % width);
  if (typeof cell === 'bigint') {
    const step = BigInt(width);
    return cell - (((cell % step) + step) % step);
  }
  if (typeof cell === 'string') return Array.from(cell).slice(0, width).join('');
  return Buffer.isBuffer(cell) ? cell.subarray(0, width) : undefined;
}

/** Since 1970, rounded down. */
function calendarUnit(cell: Cell, unit: 'year' | 'month' | 'day' | 'hour', perDay: bigint): number | null {
  if (typeof cell !== 'number' && typeof cell !== 'bigint') return null;
  const units = BigInt(cell);
  const days = floored(units, perDay);
  if (unit === 'day') return Number(days);
  if (unit === 'hour') return Number(perDay === 1n ? days * 24n : floored(units, perDay / 24n));
  const date = new Date(Number(days) * 86_400_000);
  const years = date.getUTCFullYear() - 1970;
  return unit === 'year' ? years : years * 12 + date.getUTCMonth();
}

const floored = (value: bigint, by: bigint): bigint => (value - (((value % by) + by) % by)) / by;

function avroValue(type: PrimitiveType, cell: Cell): unknown {
  return type.kind === 'decimal' && typeof cell === 'bigint'
    ? twosComplement(cell, decimalLength(type.precision))
    : cell;
}

/** Named types must differ within a schema: hence the id. */
function avroType(type: PrimitiveType, id: number): Json {
  switch (type.kind) {
    case 'boolean':
    case 'int':
    case 'long':
    case 'float':
    case 'double':
    case 'string':
      return type.kind;
    case 'binary':
      return 'bytes';
    case 'date':
      return { type: 'int', logicalType: 'date' };
    case 'time':
      return { type: 'long', logicalType: 'time-micros' };
    case 'timestamp':
      return { type: 'long', logicalType: 'timestamp-micros', 'adjust-to-utc': type.isUtc };
    case 'timestamp-ns':
      return { type: 'long', logicalType: 'timestamp-nanos', 'adjust-to-utc': type.isUtc };
    case 'uuid':
      return { type: 'fixed', name: `uuid_${id}`, size: 16, logicalType: 'uuid' };
    case 'fixed':
      return { type: 'fixed', name: `fixed_${id}`, size: type.length };
    case 'decimal': {
      const { precision, scale } = type;
      return {
        type: 'fixed',
        name: `decimal_${id}`,
        size: decimalLength(precision),
        logicalType: 'decimal',
        precision,
        scale,
      };
    }
  }
}

/** Avro allows letters, digits and underscores; readers go by the id. */
const avroName = (name: string): string =>
  name
    .replace(/[^A-Za-z0-9_]/g, (char) => `_x${char.charCodeAt(0).toString(16).toUpperCase()}`)
    .replace(/^(?=\d)/, '_');
