import { isObject, type Json, type JsonObject } from '../schema/schema.ts';
import { fieldsByName } from './fields-by-name.ts';
import { itemsByName, nameOf } from './list-items.ts';
import type { PathElement } from './path-element.ts';
import type { ListShape, Shape } from './shape.ts';

/** Lays `applied` over `live`: maps field by field, sets and keyed lists item by item, all else replaces. */
export function mergeTyped(live: JsonObject, applied: JsonObject, shape: Shape): JsonObject {
  const merged = mergeValues(live, applied, shape);
  return isObject(merged) ? merged : applied;
}

function mergeValues(live: Json | undefined, applied: Json, shape: Shape): Json {
  if (live === undefined) return applied;
  const form = shape.formOf(applied);
  if (form === 'map' && !shape.map?.isAtomic) {
    const merged = fieldsByName(live);
    const right = fieldsByName(applied);
    // Two empty ones are leaves: that tells `{}` from null.
    if (merged.size + right.size === 0) return applied;
    for (const [name, value] of right) merged.set(name, mergeValues(merged.get(name), value, shape.field(name)));
    return Object.fromEntries(merged);
  }
  if (form === 'list' && shape.list && shape.list.relation !== 'atomic') {
    const left = Array.isArray(live) ? live : [];
    const right = Array.isArray(applied) ? applied : [];
    return left.length + right.length === 0 ? applied : mergeLists(left, right, shape.list);
  }
  return applied;
}

/**
 * Applied items come in their order, live ones in theirs; where the two disagree on items they share, the applied order
 * wins. A live item that only the live list has stays behind the shared item that it followed.
 */
function mergeLists(live: readonly Json[], applied: readonly Json[], list: ListShape): readonly Json[] {
  const liveByName = itemsByName(live, list);
  const appliedByName = itemsByName(applied, list);
  const shared = [...appliedByName.keys()].filter((name) => liveByName.has(name));
  const merged: Json[] = [];
  const done = new Set<PathElement>();
  const left = live.flatMap((item) => named(item, list));
  const right = [...appliedByName.keys()];

  const takeApplied = (name: PathElement) => {
    const twins = liveByName.get(name) ?? [];
    // A name that the live list holds twice cannot be merged with: its items give way to the applied one.
    for (const item of appliedByName.get(name) ?? []) {
      merged.push(mergeValues(twins.length === 1 ? twins[0] : undefined, item, list.items));
    }
    done.add(name);
    if (shared[0] === name) shared.shift();
  };

  let l = 0;
  let r = 0;
  while (l < left.length || r < right.length) {
    const mine = left[l];
    const theirs = right[r];
    if (mine !== undefined && theirs !== undefined) {
      if (mine.name === theirs) {
        takeApplied(theirs);
        l++;
        r++;
        continue;
      }
      if (appliedByName.has(mine.name) && shared.length > 0 && shared[0] !== mine.name) {
        l++;
        continue;
      }
    }
    if (mine !== undefined) {
      if (!appliedByName.has(mine.name)) {
        merged.push(mine.item);
        l++;
        continue;
      }
      if (done.has(mine.name)) l++;
    }
    if (theirs !== undefined) {
      takeApplied(theirs);
      r++;
    }
  }
  return merged;
}

function named(item: Json, list: ListShape): readonly { name: PathElement; item: Json }[] {
  const name = nameOf(item, list);
  return 'element' in name ? [{ name: name.element, item }] : [];
}
