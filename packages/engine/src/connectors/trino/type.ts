/** A type of Trino, read from its SQL. */
export type TrinoType =
  | {
      readonly kind: 'scalar';
      /** Without length and precision: `timestamp with time zone`, `decimal`, … */
      readonly name: string;
      /** Length; or precision and scale. */
      readonly parameters: readonly number[];
      readonly sql: string;
    }
  | { readonly kind: 'array'; readonly element: TrinoType; readonly sql: string }
  | { readonly kind: 'map'; readonly key: TrinoType; readonly value: TrinoType; readonly sql: string }
  | { readonly kind: 'row'; readonly fields: readonly RowField[]; readonly sql: string };

export interface RowField {
  /** Undefined: it is known by its place alone. */
  readonly name: string | undefined;
  readonly type: TrinoType;
}

/** `head(inside) tail` */
const PARTS = /^([^("]+)\((.*)\)([^()]*)$/s;

export function parseType(sql: string): TrinoType {
  const [, head = sql, inside = '', tail = ''] = PARTS.exec(sql) ?? [];
  const [first, second] = splitAtCommas(inside);
  switch (head.trim().toLowerCase()) {
    case 'array':
      return { kind: 'array', element: parseType(inside), sql };
    case 'map':
      return { kind: 'map', key: parseType(first ?? ''), value: parseType(second ?? ''), sql };
    case 'row':
      return { kind: 'row', fields: splitAtCommas(inside).map(fieldOf), sql };
    default: {
      const name = `${head.trim()} ${tail.trim()}`.trim().toLowerCase();
      return { kind: 'scalar', name, parameters: inside === '' ? [] : splitAtCommas(inside).map(Number), sql };
    }
  }
}

const QUOTED_FIELD = /^"((?:[^"]|"")*)"\s+(.*)$/s;
const NAMED_FIELD = /^([^\s("]+)\s+(.*)$/s;
/** Words that go on a type, so that what stands before them is no name: `time with time zone`, `interval day to second`. */
const GOES_ON = /^(?:with|without|day|year)\b/i;

function fieldOf(sql: string): RowField {
  const [, quotedName, quotedType] = QUOTED_FIELD.exec(sql) ?? [];
  if (quotedName !== undefined && quotedType !== undefined)
    return { name: quotedName.replaceAll('""', '"'), type: parseType(quotedType) };
  const [, name, type] = NAMED_FIELD.exec(sql) ?? [];
  if (name === undefined || type === undefined || GOES_ON.test(type)) return { name: undefined, type: parseType(sql) };
  return { name, type: parseType(type) };
}

/** At commas that are neither within brackets nor within a name. */
function splitAtCommas(list: string): readonly string[] {
  const parts: string[] = [];
  let depth = 0;
  let isQuoted = false;
  let start = 0;
  for (let at = 0; at < list.length; at++) {
    const char = list.charAt(at);
    if (char === '"') isQuoted = !isQuoted;
    else if (isQuoted) continue;
    else if (char === '(') depth++;
    else if (char === ')') depth--;
    else if (char === ',' && depth === 0) {
      parts.push(list.slice(start, at).trim());
      start = at + 1;
    }
  }
  const last = list.slice(start).trim();
  return last === '' ? parts : [...parts, last];
}

/** What a field of a row is called that has no name. */
export const fieldName = (place: number): string => `field${place}`;
