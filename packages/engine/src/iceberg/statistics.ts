/** What a manifest tells of the columns of a file, so that readers can pass it over. Where a bound is not certain there is none. */
import { bytesOfCell } from './binary.ts';
import type { Cell } from './cell.ts';
import type { ColumnStatistics } from './manifest.ts';
import { type Field, isPrimitive, type PrimitiveType } from './types.ts';

/** Longer bounds would make manifests long, and tell hardly more. In characters or bytes. */
const BOUND_LENGTH = 16;

/** Undefined for structs, lists and maps. */
export function statisticsOf({ id, type }: Field, cells: readonly Cell[]): ColumnStatistics | undefined {
  if (!isPrimitive(type)) return undefined;
  const compare = comparisonOf(type);
  let [nulls, nans] = [0, 0];
  let lower: Cell = null;
  let upper: Cell = null;
  for (const cell of cells) {
    if (cell === null) nulls++;
    else if (typeof cell === 'number' && Number.isNaN(cell)) nans++;
    else if (compare) {
      if (lower === null || compare(cell, lower) < 0) lower = cell;
      if (upper === null || compare(cell, upper) > 0) upper = cell;
    }
  }
  const isFloat = type.kind === 'float' || type.kind === 'double';
  return {
    fieldId: id,
    values: BigInt(cells.length),
    nulls: BigInt(nulls),
    nans: isFloat ? BigInt(nans) : undefined,
    lower: lower === null ? undefined : bytesOfCell(type, lowered(lower)),
    upper: upper === null ? undefined : upperBytes(type, upper),
  };
}

function upperBytes(type: PrimitiveType, upper: Cell): Buffer | undefined {
  const raised = raise(upper);
  return raised === undefined ? undefined : bytesOfCell(type, raised);
}

type Comparison = (a: Cell, b: Cell) => number;

/** Undefined: readers do not agree on the order of uuids. */
function comparisonOf(type: PrimitiveType): Comparison | undefined {
  if (type.kind === 'uuid') return undefined;
  if (type.kind === 'string')
    return (a, b) => (typeof a === 'string' && typeof b === 'string' ? compareTexts(a, b) : 0);
  if (type.kind === 'binary' || type.kind === 'fixed')
    return (a, b) => (Buffer.isBuffer(a) && Buffer.isBuffer(b) ? Buffer.compare(a, b) : 0);
  return (a, b) => (a === null || b === null || a === b ? 0 : a < b ? -1 : 1);
}

/** By code points, as UTF-8 sorts, and not by the halves of those beyond the first plane, as JavaScript does. */
export function compareTexts(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const [x, y] = [a.charCodeAt(at), b.charCodeAt(at)];
    if (x !== y) return planeOrdered(x) - planeOrdered(y);
  }
  return a.length - b.length;
}

const planeOrdered = (unit: number): number => (unit < 0xd800 ? unit : unit < 0xe000 ? unit + 0x2000 : unit - 0x800);

/** At most as large: a beginning of it. Of the two zeros the negative one is smaller. */
function lowered(cell: Cell): Cell {
  if (typeof cell === 'string')
    return Array.from(cell.slice(0, 2 * BOUND_LENGTH))
      .slice(0, BOUND_LENGTH)
      .join('');
  if (Buffer.isBuffer(cell)) return cell.subarray(0, BOUND_LENGTH);
  return cell === 0 ? -0 : cell;
}

/** At least as large: a beginning of it, and the last character that has a successor replaced by that. Undefined: none has. */
function raise(cell: Cell): Cell | undefined {
  if (typeof cell === 'string') return raisedText(cell);
  if (Buffer.isBuffer(cell)) return raisedBytes(cell);
  return cell === 0 ? 0 : cell;
}

function raisedText(text: string): string | undefined {
  const points = Array.from(text.slice(0, 2 * BOUND_LENGTH));
  if (points.length <= BOUND_LENGTH && text.length <= 2 * BOUND_LENGTH) return text;
  points.length = BOUND_LENGTH;
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    const point = last.codePointAt(0) ?? 0;
    // The halves of pairs are no characters.
    if (point < 0x10ffff) return `${points.join('')}${String.fromCodePoint(point === 0xd7ff ? 0xe000 : point + 1)}`;
  }
  return undefined;
}

function raisedBytes(bytes: Buffer): Buffer | undefined {
  if (bytes.length <= BOUND_LENGTH) return bytes;
  for (let end = BOUND_LENGTH; end > 0; end--) {
    const last = bytes[end - 1] ?? 0xff;
    if (last === 0xff) continue;
    const raised = Buffer.from(bytes.subarray(0, end));
    raised[end - 1] = last + 1;
    return raised;
  }
  return undefined;
}
