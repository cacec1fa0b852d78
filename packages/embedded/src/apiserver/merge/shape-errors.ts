import { isNumeric } from '../exact-json.ts';
import { isObject, type Json } from '../schema/schema.ts';
import { goSyntax, goTypeName, goValue } from './go-format.ts';
import { nameOf } from './list-items.ts';
import { fieldElement, printElement } from './path-element.ts';
import type { ListShape, MapShape, ScalarShape, Shape } from './shape.ts';

interface ShapeError {
  readonly path: string;
  readonly message: string;
}

/** Why a value cannot be merged by its schema, in the real server's words; undefined when it can. */
export function misfitOf(value: Json, shape: Shape): string | undefined {
  const errors = errorsIn(value, shape, '').map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
  if (errors.length < 2) return errors[0];
  return ['errors:', ...errors.map((error) => `  ${error}`)].join('\n');
}

function errorsIn(value: Json, shape: Shape, path: string): readonly ShapeError[] {
  if (value === null) return [];
  const form = shape.formOf(value);
  if (form === 'map' && shape.map) return errorsInMap(value, shape.map, path);
  if (form === 'list' && shape.list) return errorsInList(value, shape.list, path);
  return errorsInScalar(value, shape.scalar ?? 'untyped', path);
}

function errorsInMap(value: Json, map: MapShape, path: string): readonly ShapeError[] {
  if (!isObject(value)) return [{ path, message: `expected map, got &{${goValue(value)}}` }];
  const errors: ShapeError[] = [];
  for (const name of Object.keys(value).toSorted()) {
    const here = path + printElement(fieldElement(name));
    const field = map.declared(name) ?? map.others;
    // The real server looks no further into a map once it found a stranger in it.
    if (field === undefined) return [...errors, { path: here, message: 'field not declared in schema' }];
    errors.push(...errorsIn(value[name] ?? null, field, here));
  }
  return errors;
}

function errorsInList(value: Json, list: ListShape, path: string): readonly ShapeError[] {
  if (!Array.isArray(value)) return [{ path, message: `expected list, got &{${goValue(value)}}` }];
  const errors: ShapeError[] = [];
  const seen = new Set<string>();
  for (const [index, item] of value.entries()) {
    let element = `i:${index}`;
    if (list.relation !== 'atomic') {
      const name = nameOf(item, list);
      if ('error' in name) return [...errors, { path, message: `element ${index}: ${name.error}` }];
      element = name.element;
      if (seen.has(element)) errors.push({ path, message: `duplicate entries for key ${printElement(element)}` });
      seen.add(element);
    }
    errors.push(...errorsIn(item, list.items, path + printElement(element)));
  }
  return errors;
}

function errorsInScalar(value: Json, scalar: ScalarShape, path: string): readonly ShapeError[] {
  const message = misfitOfScalar(value, scalar);
  return message === undefined ? [] : [{ path, message }];
}

function misfitOfScalar(value: Json, scalar: ScalarShape): string | undefined {
  if (scalar === 'untyped')
    return typeof value === 'object' ? `expected any scalar, got &{${goValue(value)}}` : undefined;
  if (scalar === 'numeric' ? isNumeric(value) : typeof value === scalar) return undefined;
  // Each of the three prints what it got in its own way.
  if (scalar === 'numeric') return `expected numeric (int or float), got ${goTypeName(value)}`;
  if (scalar === 'boolean') return `expected boolean, got &{${goValue(value)}}`;
  return `expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`;
}
