/** A value as a server prints it. Null: SQL NULL. */
type Value = string | null;

/** How far a table was read: the values of the last row, as the server prints them. */
export interface Position {
  /** Undefined in checkpoints of programs that followed the key alone. */
  readonly change: Value | undefined;
  readonly order: Value;
}

export const isPosition = (value: unknown): value is Position =>
  typeof value === 'object' && value !== null && 'change' in value && 'order' in value;

const SERVER_MOMENT = /^(\d{4,}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)\+00$/;

/** Moments as RFC 3339; short integers as numbers, longer ones as text, since most readers would round them. */
export function checkpointOf({ change, order }: Position): unknown {
  return {
    lastReadChangeTime: typeof change === 'string' ? change.replace(SERVER_MOMENT, '$1T$2Z') : null,
    lastReadOrderByValue: order !== null && isSafeInteger(order) ? Number(order) : order,
  };
}

/** Not `007`: that is a text, which must come back as it was. */
const isSafeInteger = (text: string): boolean => Number.isSafeInteger(Number(text)) && String(Number(text)) === text;

/** Also by the names of old: `lastReadTime`, `lastReadID`. Undefined: there is none. */
export function positionOf(checkpoint: unknown): Position | undefined {
  if (typeof checkpoint !== 'object' || checkpoint === null) return undefined;
  const fields = new Map<string, unknown>(Object.entries(checkpoint));
  const change = textOf(fields.get('lastReadChangeTime') ?? fields.get('lastReadTime'));
  const order = textOf(fields.get('lastReadOrderByValue') ?? fields.get('lastReadID'));
  return change === undefined && order === undefined ? undefined : { change, order: order ?? null };
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'bigint' ? value.toString() : undefined;
}
