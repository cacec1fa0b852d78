import type { FieldError } from '../status.ts';
import { child, forbidden, invalidValue, keyed, notSupported, required } from './field-errors.ts';
import type { JsonSchema } from './schema.ts';

/** `x-kubernetes-list-type` and `x-kubernetes-map-type`: on what they may stand, and what they ask of the items. */
export function validateListType(node: JsonSchema, path: string): readonly FieldError[] {
  const { type = '', items } = node;
  // Read as text: a CRD may hold any word here.
  const listType: string | undefined = node['x-kubernetes-list-type'];
  const mapType: string | undefined = node['x-kubernetes-map-type'];
  const errors: FieldError[] = [];
  const mustBe = (wanted: string, name: string) => {
    const detail = `must be ${wanted} if ${name} is specified`;
    return type === '' ? required(child(path, 'type'), detail) : invalidValue(child(path, 'type'), type, detail);
  };
  if (mapType !== undefined && type !== 'object') errors.push(mustBe('object', 'x-kubernetes-map-type'));
  if (mapType !== undefined && mapType !== 'atomic' && mapType !== 'granular') {
    errors.push(notSupported(child(path, 'x-kubernetes-map-type'), mapType, ['atomic', 'granular']));
  }
  if (listType !== undefined && type !== 'array') errors.push(mustBe('array', 'x-kubernetes-list-type'));
  else if (listType === 'set' && items !== undefined) errors.push(...validateSetItems(items, child(path, 'items')));
  if (listType !== undefined && !['atomic', 'set', 'map'].includes(listType)) {
    errors.push(notSupported(child(path, 'x-kubernetes-list-type'), listType, ['atomic', 'set', 'map']));
  }
  if ((listType === 'set' || listType === 'map') && items?.nullable) {
    const detail = `cannot be nullable when x-kubernetes-list-type is ${listType}`;
    errors.push(forbidden(child(child(path, 'items'), 'nullable'), detail));
  }
  return errors;
}

/** Items of a set are compared whole, so nobody may own a part of one. */
function validateSetItems(items: JsonSchema, path: string): readonly FieldError[] {
  const detail = 'must be atomic as item of a list with x-kubernetes-list-type=set';
  const listType = items['x-kubernetes-list-type'];
  if (items.type === 'array' && listType !== undefined && listType !== 'atomic') {
    return [invalidValue(child(path, 'x-kubernetes-list-type'), listType, detail)];
  }
  if (items.type === 'object' && items['x-kubernetes-map-type'] !== 'atomic') {
    // The real server quotes the list type here, which is not set.
    return [invalidValue(child(path, 'x-kubernetes-map-type'), listType ?? null, detail)];
  }
  return [];
}

/** The keys of a `map` list: scalar properties of the items, always there. */
export function validateListKeys(node: JsonSchema, path: string): readonly FieldError[] {
  const keys = node['x-kubernetes-list-map-keys'] ?? [];
  const listType = node['x-kubernetes-list-type'];
  const keysPath = child(path, 'x-kubernetes-list-map-keys');
  const itemsPath = child(path, 'items');
  if (listType !== 'map') {
    if (keys.length === 0) return [];
    const detail = 'must be map if x-kubernetes-list-map-keys is non-empty';
    const typePath = child(path, 'x-kubernetes-list-type');
    return [listType === undefined ? required(typePath, detail) : invalidValue(typePath, listType, detail)];
  }
  const errors: FieldError[] = [];
  if (keys.length === 0) errors.push(required(keysPath, 'must not be empty if x-kubernetes-list-type is map'));
  const { items } = node;
  if (items === undefined) {
    return [...errors, required(itemsPath, 'must have a schema if x-kubernetes-list-type is map')];
  }
  if (items.type !== 'object') {
    const detail = "must be object if parent array's x-kubernetes-list-type is map";
    return [...errors, invalidValue(child(itemsPath, 'type'), items.type ?? '', detail)];
  }
  for (const [index, key] of keys.entries()) {
    const property = items.properties?.[key];
    const at = (name: string) => child(keyed(child(itemsPath, 'properties'), key), name);
    if (property === undefined) {
      errors.push(invalidValue(keysPath, keys, 'entries must all be names of item properties'));
    } else {
      if (property.type === 'array' || property.type === 'object') {
        const detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
        errors.push(invalidValue(at('type'), items.type, detail));
      }
      const isThere = items.required?.includes(key) || (property.default !== undefined && property.default !== null);
      if (!isThere) {
        const detail =
          'this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property';
        errors.push(required(at('default'), detail));
      }
      if (property.nullable) {
        const detail = 'this property is in x-kubernetes-list-map-keys, so it cannot be nullable';
        errors.push(forbidden(at('nullable'), detail));
      }
    }
    if (keys.indexOf(key) < index) errors.push(invalidValue(keysPath, keys, 'must not contain duplicate entries'));
  }
  return errors;
}
