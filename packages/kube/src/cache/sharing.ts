/**
 * The same value, with every part that is equal in `known` replaced by that part. Siblings made from one template, and
 * successive versions of one object, then hold most of their content in common, once: a third of the memory of a cache of
 * pods. Works in place on `value`, which must be nobody else's yet, except for what is frozen: that is shared already.
 * `known` is not touched.
 */
export function shared<V>(value: V, known: V): V {
  if (value === known) return known; // equal strings, too: one of the two copies can go
  if (Object.isFrozen(value)) return value; // as are all values that are no objects
  if (Array.isArray(value)) return Array.isArray(known) && shareItems(value, known) ? known : value;
  if (isObject(value)) return isObject(known) && shareFields(value, known) ? known : value;
  return value;
}

/** True if all of it is shared. */
function shareItems(items: unknown[], known: readonly unknown[]): boolean {
  let isSame = items.length === known.length;
  for (let at = 0; at < items.length && at < known.length; at++) {
    items[at] = shared(items[at], known[at]);
    isSame &&= items[at] === known[at];
  }
  return isSame;
}

/** `for in`, because it walks the engine's own list of names; `Object.keys` would copy it for every object of every event. */
function shareFields(fields: Record<string, unknown>, known: Readonly<Record<string, unknown>>): boolean {
  let isSame = true;
  let count = 0;
  for (const name in fields) {
    count++;
    const old = known[name];
    const field = shared(fields[name], old);
    if (field === old) fields[name] = field;
    else isSame = false;
  }
  if (isSame) for (const _ in known) count--;
  return isSame && count === 0;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
