import { isNumeric, printJson } from '../exact-json.ts';
import type { Column } from '../served-kind.ts';
import type { CrdColumn } from './crd.ts';
import { goFloat } from './field-errors.ts';
import { compileJsonPath } from './json-path.ts';
import { isObject } from './schema.ts';

const AGE: CrdColumn = {
  name: 'Age',
  type: 'date',
  description:
    'CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata',
  jsonPath: '.metadata.creationTimestamp',
};

/** The columns of `kubectl get`, compiled. A definition without any shows the age. */
export function printerColumns(columns: readonly CrdColumn[] | undefined): readonly Column[] {
  return (columns?.length ? columns : [AGE]).map(printerColumn);
}

function printerColumn({ name = '', type = '', format, description, priority = 0, jsonPath = '' }: CrdColumn): Column {
  const find = compileJsonPath(jsonPath);
  const columnType = typeOf(type);
  return {
    name,
    type: columnType,
    ...(format !== undefined && { format }),
    description: description || `Custom resource definition column (in JSONPath format): ${jsonPath}`,
    priority,
    // A path may find several values; the real server shows the first.
    cell: (object, now) => cellOf(columnType, find?.(object)[0], now),
  };
}

function typeOf(type: string): Column['type'] {
  return type === 'integer' || type === 'number' || type === 'boolean' || type === 'date' ? type : 'string';
}

/** null is an empty cell: nothing found, or something of another type. */
function cellOf(type: Column['type'], value: unknown, now: number): ReturnType<Column['cell']> {
  if (value === undefined) return null;
  if (value === null) return type === 'string' ? '<no value>' : null;
  switch (type) {
    case 'integer':
      if (typeof value === 'bigint') return value;
      return typeof value === 'number' ? Math.trunc(value) : null;
    case 'number':
      return isNumeric(value) ? value : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'date':
      return typeof value === 'string' ? ageOf(value, now) : null;
    case 'string':
    default:
      return textOf(value);
  }
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return Number.isInteger(value) ? String(value) : goFloat(value);
  return isObject(value) || Array.isArray(value) ? printJson(value) : String(value);
}

function ageOf(time: string, now: number): string {
  const then = /^\d{4}-\d{2}-\d{2}T/.test(time) ? Date.parse(time) : Number.NaN;
  return Number.isNaN(then) ? '<invalid>' : shortDuration(now - then);
}

/** `5s`, `3m20s`, `2d4h`: two units while the larger one is small (`k8s.io/apimachinery/pkg/util/duration`). */
export function shortDuration(milliseconds: number): string {
  const seconds = Math.trunc(milliseconds / 1_000);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10) return pair(minutes, 'm', seconds % 60, 's');
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 8) return pair(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  const days = Math.floor(hours / 24);
  if (hours < 24 * 8) return pair(days, 'd', hours % 24, 'h');
  if (days < 365 * 2) return `${days}d`;
  const years = Math.floor(days / 365);
  return days < 365 * 8 ? pair(years, 'y', days % 365, 'd') : `${years}y`;
}

const pair = (large: number, unit: string, small: number, smallUnit: string) =>
  small === 0 ? `${large}${unit}` : `${large}${unit}${small}${smallUnit}`;
