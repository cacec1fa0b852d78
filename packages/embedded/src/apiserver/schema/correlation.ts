import { sameJson } from './equality.ts';
import { isObject, type Schema } from './schema.ts';

/**
 * A value beside the one it replaces, followed down both objects together. Where there is nothing to compare with (a new
 * key, an item of a list without keys) the walk ends: undefined.
 *
 * Ratcheting rests on it: an error below a value that did not change is not the fault of this update.
 */
export class Correlation {
  readonly value: unknown;
  readonly old: unknown;
  readonly #schema: Schema;
  #same: boolean | undefined;

  constructor(value: unknown, old: unknown, schema: Schema) {
    this.value = value;
    this.old = old;
    this.#schema = schema;
  }

  get isUnchanged(): boolean {
    return (this.#same ??= sameJson(this.value, this.old));
  }

  property(name: string): Correlation | undefined {
    const { value, old } = this;
    if (!isObject(value) || !isObject(old) || !Object.hasOwn(value, name) || !Object.hasOwn(old, name))
      return undefined;
    const schema = this.#schema.property(name);
    return schema && new Correlation(value[name], old[name], schema);
  }

  item(index: number): Correlation | undefined {
    if (!Array.isArray(this.value) || !Array.isArray(this.old)) return undefined;
    const schema = this.#schema.items;
    const value: unknown = this.value[index];
    const old = schema && itemWithSameKeys(this.#schema, this.old, value);
    return old === undefined ? undefined : schema && new Correlation(value, old, schema);
  }
}

/** The item of an old list that a new item replaces: only lists of type `map` can tell. */
export function itemWithSameKeys(list: Schema, old: readonly unknown[], item: unknown): unknown {
  const keys = list.node['x-kubernetes-list-map-keys'];
  if (list.node['x-kubernetes-list-type'] !== 'map' || keys === undefined || !isObject(item)) return undefined;
  return old.find((other) => isObject(other) && keys.every((key) => sameJson(other[key], item[key])));
}
