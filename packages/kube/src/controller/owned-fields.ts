import type { KubernetesObject, ManagedFieldsEntry } from '../kinds/index.ts';

type Fields = NonNullable<ManagedFieldsEntry['fieldsV1']>;

/**
 * Whether the fields that a manager owns (`fieldsV1`) are those of an object that it applies: all of them, and no others. They
 * are named as the server names them: `f:image` a field, `k:{"name":"x"}` an item by its keys, `v:"x"` one by its value, `.`
 * what they stand in. One with nothing below it is owned as a whole: a value, or a list that is one to the server.
 */
export function ownsExactly(fields: Fields, { metadata, ...object }: KubernetesObject): boolean {
  const owned = fields['f:metadata'] ?? {};
  return (
    isFields(owned) &&
    isSameNames(without(owned, ['f:ownerReferences']), without(metadata, UNOWNED_METADATA)) &&
    isSameNames(without(fields, ['f:metadata']), without(object, ['apiVersion', 'kind']))
  );
}

/** What names an object is nobody's; whose a reference to an owner is does not matter, as long as it is there. */
const UNOWNED_METADATA = ['name', 'namespace', 'uid', 'ownerReferences'];

function owns(fields: unknown, wanted: unknown): boolean {
  if (!isFields(fields)) return false;
  if (isEmpty(fields)) return true;
  if (Array.isArray(wanted)) return ownsItems(fields, wanted);
  return isFields(wanted) && isSameNames(fields, wanted);
}

function isSameNames(fields: Fields, wanted: Fields): boolean {
  let left = 0;
  for (const name in wanted) {
    if (wanted[name] === undefined) continue;
    if (!owns(fields[`f:${name}`], wanted[name])) return false;
    left++;
  }
  for (const name in fields) if (name !== '.') left--;
  return left === 0;
}

function ownsItems(fields: Fields, wanted: readonly unknown[]): boolean {
  const names = Object.keys(fields).filter((name) => name !== '.');
  return (
    names.length === wanted.length &&
    names.every((name) => {
      const item = wanted.find((one) => isNamed(name, one));
      return item !== undefined && owns(fields[name], item);
    })
  );
}

/** A key that an item leaves out has its default: nothing is said against it. */
function isNamed(name: string, item: unknown): boolean {
  const key: unknown = JSON.parse(name.slice(PREFIX_LENGTH));
  if (!isFields(key)) return key === item;
  return isFields(item) && Object.entries(key).every(([field, value]) => (item[field] ?? value) === value);
}

const PREFIX_LENGTH = 'k:'.length;

const without = (object: object, names: readonly string[]): Fields =>
  Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));

function isEmpty(fields: Fields): boolean {
  for (const _ in fields) return false;
  return true;
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
