import avro, { type Type } from 'avsc';

/** Longs beyond 2^53 are common (ids, nanoseconds): they are read as bigint and printed digit by digit. */

const exactLong = avro.types.LongType['__with']({
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
    super(schema, options);
    const attributes: object = typeof schema === 'object' ? schema : {};
    this.kind = 'logicalType' in attributes ? String(attributes.logicalType) : '';
    this.scale = 'scale' in attributes ? Number(attributes.scale) : 0;
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

/** Throws if the text is no Avro schema. */
export function parseSchema(text: string): Type {
  const schema: avro.Schema = JSON.parse(text);
  return avro.Type.forSchema(schema, {
    // The default long stays the one of values that defaults are written in; only what is decoded has to be exact.
    registry: { long: exactLong },
    logicalTypes: Object.fromEntries(LOGICAL_TYPES.map((name) => [name, Logical])),
    // A union's branch is then named in the value, also where two branches could not be told apart (int and long).
    wrapUnions: 'always',
  });
}
