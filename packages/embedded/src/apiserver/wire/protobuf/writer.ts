/** How values of one type are put on the wire. */
export interface WireType<T> {
  /** 0 for numbers of varying length, 1 for eight bytes, 2 for bytes after their length. */
  readonly code: 0 | 1 | 2;
  readonly bytes: (value: T) => Uint8Array;
}

export const text: WireType<string> = { code: 2, bytes: (value) => Buffer.from(value) };

export const bool: WireType<boolean> = { code: 0, bytes: (value) => varint(value ? 1 : 0) };

export const int64: WireType<number> = { code: 0, bytes: varint };

/** A bound may be an exact whole number that no double holds; the message has nothing better for it. */
export const double: WireType<number | bigint> = {
  code: 1,
  bytes: (value) => {
    const bytes = Buffer.alloc(8);
    bytes.writeDoubleLE(Number(value));
    return bytes;
  },
};

/** A message from its fields. These are given by a function, so that messages can hold themselves. */
export const message = <T>(fields: (value: T) => readonly Uint8Array[]): WireType<T> => ({
  code: 2,
  bytes: (value) => Buffer.concat(fields(value)),
});

const NOTHING = new Uint8Array();

/** One field; nothing where there is no value. */
export function field<T>(number: number, type: WireType<T>, value: T | undefined): Uint8Array {
  if (value === undefined) return NOTHING;
  const bytes = type.bytes(value);
  const tag = varint((number << 3) | type.code);
  return Buffer.concat(type.code === 2 ? [tag, varint(bytes.length), bytes] : [tag, bytes]);
}

/** A field that is there as often as there are values. */
export const repeated = <T>(number: number, type: WireType<T>, values: readonly T[] | undefined): Uint8Array =>
  values === undefined ? NOTHING : Buffer.concat(values.map((value) => field(number, type, value)));

/** Seven bits to a byte, the lowest first; a negative number is written as 64 bits of two's complement. */
function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  return Uint8Array.from([...bytes, Number(rest)]);
}
