/**
 * The same value, with every part that is equal in `known` replaced by that part; or, where it is not, by that of `alike`.
 * Successive versions of one object, and siblings made from one template, then hold most of their content in common, once.
 * Works in place on `value`, which must be nobody else's yet, except for what is frozen: that is shared already. The others
 * are not touched.
 */
export function shared<V>(value: V, known: V | undefined, alike?: V): V {
  // Equal strings, too: one of the two copies can go.
  if (known !== undefined && value === known) return known;
  if (alike !== undefined && value === alike) return alike;
  if (Object.isFrozen(value)) return value; // as are all values that are no objects
  const twin = Array.isArray(value)
    ? twinOfList(value, listIn(known), listIn(alike))
    : isFields(value)
      ? twinOfFields(value, fieldsIn(known), fieldsIn(alike))
      : undefined;
  if (twin === 'known' && known !== undefined) return known;
  if (twin === 'alike' && alike !== undefined) return alike;
  return value;
}

type List = readonly unknown[];
type Fields = Record<string, unknown>;

/** Which of the others the whole is equal to, after its parts were shared. */
type Twin = 'known' | 'alike' | undefined;

function twinOfList(items: unknown[], known: List | undefined, alike: List | undefined): Twin {
  let isKnown = items.length === known?.length;
  let isAlike = items.length === alike?.length;
  for (let at = 0; at < items.length; at++) {
    const item = shared(items[at], known?.[at], alike?.[at]);
    items[at] = item;
    isKnown &&= item === known?.[at];
    isAlike &&= item === alike?.[at];
  }
  return isKnown ? 'known' : isAlike ? 'alike' : undefined;
}

/** `for in`, because it walks the engine's own list of names; `Object.keys` would copy it for every object of every event. */
function twinOfFields(fields: Fields, known: Fields | undefined, alike: Fields | undefined): Twin {
  let isKnown = known !== undefined;
  let isAlike = alike !== undefined;
  let count = 0;
  for (const name in fields) {
    count++;
    const field = shared(fields[name], known?.[name], alike?.[name]);
    fields[name] = field;
    isKnown &&= field === known?.[name];
    isAlike &&= field === alike?.[name];
  }
  if (isKnown && count === sizeOf(known)) return 'known';
  return isAlike && count === sizeOf(alike) ? 'alike' : undefined;
}

function sizeOf(fields: Fields | undefined): number {
  let size = 0;
  for (const _ in fields) size++;
  return size;
}

const listIn = (value: unknown): List | undefined => (Array.isArray(value) ? value : undefined);

const fieldsIn = (value: unknown): Fields | undefined => (isFields(value) ? value : undefined);

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
