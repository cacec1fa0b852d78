import { deepFreeze } from '../freeze.ts';
import type { KubernetesObject, ManagedFieldsEntry } from '../kinds/index.ts';
import { parseWatchEvent, type WatchEvent } from './watch-event.ts';

/**
 * Takes from objects what nobody reads in a cache: the managed fields, which are four tenths of a typical pod, except what one
 * of these managers has applied. By that, an operator knows its own work again.
 */
export class Slimmer {
  readonly #managers: ReadonlySet<string>;
  /** By their text. What was made of one template has the same fields: they are kept once for all of it. */
  readonly #kept = new Map<string, Fields>();

  constructor(managers: readonly string[] = []) {
    this.#managers = new Set(managers);
  }

  /** One line of a watch. What is never parsed costs neither time nor garbage: what is to go is cut out of the bytes. */
  parse<T extends KubernetesObject>(line: Buffer): WatchEvent<T> {
    const parts = withoutManagedFields(line);
    if (parts !== undefined) {
      try {
        const event: WatchEvent<T> = JSON.parse(parts.text);
        if (event.type === 'ERROR' || event.type === 'BOOKMARK' || !this.#isIn(parts.managedFields)) return event;
        const entries: readonly ManagedFieldsEntry[] = JSON.parse(parts.managedFields.toString('utf8'));
        return { ...event, object: this.#with(event.object, entries) };
      } catch {
        // The cut was wrong (see `withoutManagedFields`); parsing all of it never is.
      }
    }
    const event = parseWatchEvent<T>(line);
    return event.type === 'ERROR' || event.type === 'BOOKMARK' ? event : { ...event, object: this.slim(event.object) };
  }

  slim<T extends KubernetesObject>(object: T): T {
    if (object.metadata.managedFields === undefined) return object;
    const { managedFields, ...metadata } = object.metadata;
    return this.#with({ ...object, metadata }, managedFields);
  }

  #isIn(managedFields: Buffer): boolean {
    return this.#managers.values().some((manager) => managedFields.includes(`"${manager}"`));
  }

  #with<T extends KubernetesObject>(object: T, entries: readonly ManagedFieldsEntry[]): T {
    const own = entries.filter(
      ({ manager = '', operation, subresource }) =>
        operation === 'Apply' && subresource === undefined && this.#managers.has(manager),
    );
    if (own.length === 0) return object;
    const managedFields = own.map(({ manager, operation, apiVersion, fieldsV1 = {} }) => {
      return { manager, operation, apiVersion, fieldsV1: this.#once(fieldsV1) };
    });
    return { ...object, metadata: { ...object.metadata, managedFields } };
  }

  #once(fields: Fields): Fields {
    const text = JSON.stringify(fields).replaceAll(UID, '');
    const kept = this.#kept.get(text);
    if (kept) return kept;
    // Names that come and go would fill it; objects that have theirs already keep them.
    if (this.#kept.size >= MOST_KEPT) this.#kept.clear();
    this.#kept.set(text, deepFreeze(fields));
    return fields;
  }
}

type Fields = NonNullable<ManagedFieldsEntry['fieldsV1']>;

const MOST_KEPT = 1_000;

/** In the key of an owner reference: whose it is stands in the reference itself. */
const UID = /(?<=\{\\"uid\\":\\")[0-9a-f-]{36}(?=\\"\})/g;

/** The object without any managed fields. */
export const slim = <T extends KubernetesObject>(object: T): T => NOBODY.slim(object);

const NOBODY = new Slimmer();

const METADATA = Buffer.from('"metadata":{');
const MANAGED_FIELDS = Buffer.from('"managedFields":[{');
const NAME_LENGTH = '"managedFields":'.length;
const LIST_END = Buffer.from('}]');
const [QUOTE, BACKSLASH, OPEN, CLOSE, COMMA] = [0x22, 0x5c, 0x7b, 0x7d, 0x2c];

interface Parts {
  readonly text: string;
  readonly managedFields: Buffer;
}

/**
 * The text of a line without the managed fields of its object, and these; undefined if they are not where they should be.
 *
 * The list holds nothing but objects, so it ends at the first `}]` that is not inside a string. A string may contain that
 * (`k:{"name":"}]"}` is a legal key), but a cut there can't pass for JSON: each quote left over from the string is escaped,
 * and a backslash outside a string is an error, as is the `f:`, `k:` or `v:` after the next unescaped quote.
 */
function withoutManagedFields(line: Buffer): Parts | undefined {
  const metadata = line.indexOf(METADATA);
  const start = metadata < 0 ? -1 : line.indexOf(MANAGED_FIELDS, metadata);
  if (start < 0 || !sameDepth(line, metadata + METADATA.length, start)) return undefined;
  const end = line.indexOf(LIST_END, start + MANAGED_FIELDS.length) + LIST_END.length;
  if (end < LIST_END.length) return undefined;
  // One of the commas beside the list goes with it.
  const isLast = line[start - 1] === COMMA;
  const until = isLast ? start - 1 : start;
  const from = !isLast && line[end] === COMMA ? end + 1 : end;
  return {
    text: line.toString('utf8', 0, until) + line.toString('utf8', from),
    managedFields: line.subarray(start + NAME_LENGTH, end),
  };
}

/** Whether as many braces open as close between two places, so that a field at `to` belongs to the object begun at `from`. */
function sameDepth(line: Buffer, from: number, to: number): boolean {
  let depth = 0;
  let isInString = false;
  for (let at = from; at < to; at++) {
    const byte = line[at];
    if (byte === QUOTE) isInString = !isInString;
    else if (byte === BACKSLASH) at++;
    else if (!isInString && byte === OPEN) depth++;
    else if (!isInString && byte === CLOSE && --depth < 0) return false;
  }
  return depth === 0;
}
