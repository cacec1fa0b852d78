/** Single values as bytes, as the bounds of columns and the hash of buckets want them (Appendix D of the specification). */
import type { Cell } from './cell.ts';
import type { PrimitiveType } from './types.ts';

export function bytesOfCell(type: PrimitiveType, cell: Cell): Buffer | undefined {
  switch (type.kind) {
    case 'boolean':
      return typeof cell === 'boolean' ? Buffer.from([cell ? 1 : 0]) : undefined;
    case 'int':
    case 'date':
      return typeof cell === 'number' ? fixed(4, (bytes) => bytes.writeInt32LE(cell)) : undefined;
    case 'long':
    case 'time':
    case 'timestamp':
    case 'timestamp-ns':
      return typeof cell === 'bigint' ? longBytes(cell) : undefined;
    case 'float':
      return typeof cell === 'number' ? fixed(4, (bytes) => bytes.writeFloatLE(cell)) : undefined;
    case 'double':
      return typeof cell === 'number' ? fixed(8, (bytes) => bytes.writeDoubleLE(cell)) : undefined;
    case 'decimal':
      return typeof cell === 'bigint' ? twosComplement(cell) : undefined;
    case 'string':
      return typeof cell === 'string' ? Buffer.from(cell) : undefined;
    case 'uuid':
    case 'binary':
    case 'fixed':
      return Buffer.isBuffer(cell) ? cell : undefined;
  }
}

export const longBytes = (value: bigint): Buffer => fixed(8, (bytes) => bytes.writeBigInt64LE(value));

/** Big-endian: as few bytes as it takes, or so many. */
export function twosComplement(value: bigint, length = minimalLength(value)): Buffer {
  const hex = BigInt.asUintN(length * 8, value)
    .toString(16)
    .padStart(length * 2, '0');
  return Buffer.from(hex, 'hex');
}

export const bigintOfTwosComplement = (bytes: Buffer): bigint =>
  bytes.length === 0 ? 0n : BigInt.asIntN(bytes.length * 8, BigInt(`0x${bytes.toString('hex')}`));

function minimalLength(value: bigint): number {
  let length = 1;
  while (BigInt.asIntN(length * 8, value) !== value) length++;
  return length;
}

/** How many bytes a decimal of so many digits needs. */
export const decimalLength = (precision: number): number => minimalLength(10n ** BigInt(precision) - 1n);

function fixed(length: number, write: (bytes: Buffer) => void): Buffer {
  const bytes = Buffer.alloc(length);
  write(bytes);
  return bytes;
}
