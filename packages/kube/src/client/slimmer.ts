import { deepFreeze } from '../freeze.ts';
import type { KubernetesObject, ManagedFieldsEntry } from '../kinds/index.ts';
import { parseWatchEvent, type WatchEvent } from './watch-event.ts';

/**
 * Takes from objects what nobody reads in a cache: the managed fields, which are four tenths of a typical pod, except what one
 * of these managers has applied. By that, an operator knows its own work again.
 */
export class Slimmer {
  readonly #managers: readonly Manager[];
  /** By their texts, without what differs between objects of one template: these have the same fields, which are kept once. */
  readonly #known = new Map<string, ManagedFieldsEntry | undefined>();

  constructor(managers: readonly string[] = []) {
    this.#managers = managers.map((name) => ({ name, field: Buffer.from(`"manager":${JSON.stringify(name)}`) }));
  }

  /** One line of a watch. What is never parsed costs neither time nor garbage: what is to go is cut out of the bytes. */
  parse<T extends KubernetesObject>(line: Buffer): WatchEvent<T> {
    const parts = withoutManagedFields(line);
    if (parts !== undefined) {
      try {
        const event: WatchEvent<T> = JSON.parse(parts.text);
        if (event.type === 'ERROR' || event.type === 'BOOKMARK') return event;
        const own = this.#managers.flatMap((manager) => this.#entriesOf(manager, parts.managedFields));
        return own.length === 0 ? event : { ...event, object: withEntries(event.object, own) };
      } catch {
        // A cut was wrong (see `withoutManagedFields`); parsing all of it never is.
      }
    }
    const event = parseWatchEvent<T>(line);
    return event.type === 'ERROR' || event.type === 'BOOKMARK' ? event : { ...event, object: this.slim(event.object) };
  }

  slim<T extends KubernetesObject>(object: T): T {
    if (object.metadata.managedFields === undefined) return object;
    const { managedFields, ...metadata } = object.metadata;
    const entries = managedFields.filter(({ manager }) => this.#managers.some(({ name }) => name === manager));
    const own = entries.flatMap((entry) => this.#once(JSON.stringify(entry)) ?? []);
    const slimmed = { ...object, metadata };
    return own.length === 0 ? slimmed : withEntries(slimmed, own);
  }

  /**
   * What a manager has in a list of managed fields: to parse all of it would cost more than the rest of the object does. Fields
   * hold no lists, so that two entries meet nowhere else; what is cut inside a string that looks like it is no JSON.
   */
  #entriesOf({ field }: Manager, list: Buffer): readonly ManagedFieldsEntry[] {
    const own: ManagedFieldsEntry[] = [];
    for (let at = list.indexOf(field); at >= 0; at = list.indexOf(field, at + 1)) {
      // Custom resources have the names of fields in order, so that the manager comes late in an entry.
      const before = list.lastIndexOf(BETWEEN, at);
      const after = list.indexOf(BETWEEN, at);
      const start = before < 0 ? 1 : before + 2;
      const end = after < 0 ? list.length - 1 : after + 1;
      const entry = this.#once(list.toString('utf8', start, end));
      if (entry) own.push(entry);
    }
    return own;
  }

  /** An entry, if it stands for what was applied to the object itself. */
  #once(text: string): ManagedFieldsEntry | undefined {
    const key = text.replace(TIME, '').replaceAll(UID, '');
    const known = this.#known.get(key);
    if (known || this.#known.has(key)) return known;
    const { time: _, fieldsType: __, subresource, ...fields }: ManagedFieldsEntry = JSON.parse(text);
    const isApplied = fields.operation === 'Apply' && subresource === undefined;
    const entry = isApplied ? deepFreeze(fields) : undefined;
    // Names that come and go would fill it; objects that have theirs already keep them.
    if (this.#known.size >= MOST_KNOWN) this.#known.clear();
    this.#known.set(key, entry);
    return entry;
  }
}

interface Manager {
  readonly name: string;
  /** As it stands in its entries, and, with these quotes, nowhere else. */
  readonly field: Buffer;
}

function withEntries<T extends KubernetesObject>(object: T, managedFields: readonly ManagedFieldsEntry[]): T {
  return { ...object, metadata: { ...object.metadata, managedFields } };
}

const MOST_KNOWN = 1_000;

const BETWEEN = Buffer.from('},{"');

/** When a manager last changed something. */
const TIME = /"time":"[^"]*",?/;

/** In the key of an owner reference: whose it is stands in the reference itself. */
const UID = /\\"uid\\":\\"[0-9a-f-]{36}/g;

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
