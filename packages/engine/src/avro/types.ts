import avro, { type Type } from 'avsc';

/** Longs beyond 2^53 are common (ids, nanoseconds): they are read as bigint and printed digit by digit. */
export const exactLong = avro.types.LongType['__with']({
  fromBuffer: (bytes: Buffer) => bytes.readBigInt64LE(),
  toBuffer: (value: bigint) => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(value);
    return bytes;
  },
  fromJSON: BigInt,
  toJSON: Number,
  isValid: (value: unknown) => typeof value === 'bigint',
  compare: (a: bigint, b: bigint) => (a === b ? 0 : a < b ? -1 : 1),
});

/** Any logical type: the value stays what the underlying type gives, and what it means is decided where it is printed. */
export class Logical extends avro.types.LogicalType {
  readonly kind: string;
  /** Digits after the point of a `decimal`. */
  readonly scale: number;

  constructor(schema: avro.Schema, options?: unknown) {
    super(isLong(schema) ? exactLong : schema, options);
    this.kind = logicalTypeOf(schema) ?? '';
    this.scale = typeof schema === 'object' && 'scale' in schema ? Number(schema.scale) : 0;
  }

  protected override _fromValue(value: unknown): unknown {
    return value;
  }

  protected override _toValue(value: unknown): unknown {
    return value;
  }
}

const LOGICAL_TYPES = [
  'decimal',
  'date',
  'time-millis',
  'time-micros',
  'timestamp-millis',
  'timestamp-micros',
  'timestamp-nanos',
  'local-timestamp-millis',
  'local-timestamp-micros',
  'local-timestamp-nanos',
  'duration',
];

/** `references`: schemas whose types it names, each behind those that it names itself. Throws if a text is no Avro schema. */
export function parseSchema(text: string, references: readonly string[] = []): Type {
  // By name, and as `{"type": "long", …}`, which many writers prefer and which would be made anew each time. Types with names
  // find each other here, too.
  const known = { long: exactLong };
  for (const reference of references) typeIn(reference, known);
  return typeIn(text, known);
}

function typeIn(text: string, registry: { [name: string]: Type }): Type {
  const schema: avro.Schema = JSON.parse(text);
  return avro.Type.forSchema(schema, {
    registry,
    typeHook: (one) => (isLong(one) && !LOGICAL_TYPES.includes(logicalTypeOf(one) ?? '') ? exactLong : undefined),
    logicalTypes: Object.fromEntries(LOGICAL_TYPES.map((name) => [name, Logical])),
    // A union's branch is then named in the value, also where two branches could not be told apart (int and long).
    wrapUnions: 'always',
  });
}

export const isLong = (schema: avro.Schema) => typeof schema === 'object' && 'type' in schema && schema.type === 'long';

function logicalTypeOf(schema: avro.Schema): string | undefined {
  if (typeof schema !== 'object' || !('logicalType' in schema)) return undefined;
  const logicalType: unknown = schema.logicalType;
  return typeof logicalType === 'string' ? logicalType : undefined;
}
