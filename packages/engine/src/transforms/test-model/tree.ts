/**
 * Documents and paths for the model: slow, without sharing, fast path or anything compiled. Objects are lists of pairs, scalars
 * their JSON text. A change walks through the whole document and asks at every place whether the path leads there.
 */
export type Tree = string | { readonly items: readonly Tree[] } | { readonly pairs: readonly Pair[] };
export type Pair = readonly [string, Tree];

/** `#` and `[*]` are every item, digits an index or a key, what has `*` or `?` a pattern, all else a key. */
export type Segments = readonly string[];

export class ModelFailure extends Error {}

export function print(tree: Tree): string {
  if (typeof tree === 'string') return tree;
  if ('items' in tree) return `[${tree.items.map(print).join(',')}]`;
  return `{${tree.pairs.map(([key, value]) => `${JSON.stringify(key)}:${print(value)}`).join(',')}}`;
}

export const text = (value: string): Tree => JSON.stringify(value);

/** As a user writes it. */
export const pathText = (path: Segments): string =>
  path
    .map((segment, at) => (segment === '[*]' ? segment : (at === 0 ? '' : '.') + segment.replaceAll('.', '\\.')))
    .join('');

/** Of equal keys the first keeps its place and the last its value. */
export function fromPairs(pairs: readonly Pair[]): { readonly pairs: readonly Pair[] } {
  const keys = pairs.map(([key]) => key).filter((key, at, all) => all.indexOf(key) === at);
  return { pairs: keys.map((key) => [key, pairs.findLast(([name]) => name === key)?.[1] ?? 'null']) };
}

/** What is left of a document once it is read: each key once. */
export function distinct(tree: Tree): Tree {
  if (typeof tree === 'string') return tree;
  if ('items' in tree) return { items: tree.items.map(distinct) };
  return fromPairs(tree.pairs.map(([key, value]) => [key, distinct(value)]));
}

export const isObject = (tree: Tree | undefined) => typeof tree === 'object' && 'pairs' in tree;
export const pairsOf = (tree: Tree | undefined) => (typeof tree === 'object' && 'pairs' in tree ? tree.pairs : []);
export const itemsOf = (tree: Tree | undefined) =>
  typeof tree === 'object' && 'items' in tree ? tree.items : undefined;
export const memberOf = (tree: Tree | undefined, key: string) => pairsOf(tree).find(([name]) => name === key)?.[1];

export const isEach = (segment: string) => segment === '#' || segment === '[*]';
export const isPattern = (segment: string) => !isEach(segment) && /[*?]/.test(segment);
export const matches = (pattern: string, key: string) =>
  new RegExp(`^${pattern.replaceAll('*', '.*').replaceAll('?', '.')}$`, 's').test(key);

export function get(tree: Tree | undefined, [first, ...rest]: Segments): Tree | undefined {
  if (tree === undefined || first === undefined) return tree;
  const items = itemsOf(tree);
  if (isEach(first)) {
    if (items === undefined) return undefined;
    if (rest.length === 0) return first === '#' ? String(items.length) : tree;
    return { items: items.flatMap((item) => get(item, rest) ?? []) };
  }
  if (items !== undefined) return get(/^\d+$/.test(first) ? items[Number(first)] : undefined, rest);
  if (!isPattern(first)) return get(memberOf(tree, first), rest);
  const values = pairsOf(tree).map(([key, value]) => (matches(first, key) ? get(value, rest) : undefined));
  return values.find((value) => value !== undefined);
}

type Place = readonly (string | number)[];

/** Every place that a path leads to. */
function placesOf(tree: Tree, [first, ...rest]: Segments): readonly Place[] {
  if (first === undefined) return [[]];
  const items = itemsOf(tree)?.entries() ?? [];
  return [
    ...[...items].filter(([index]) => isEach(first) || first === String(index)),
    ...pairsOf(tree).filter(([key]) => (isPattern(first) ? matches(first, key) : !isEach(first) && first === key)),
  ].flatMap(([key, value]) => placesOf(value, rest).map((place) => [key, ...place]));
}

const same = (one: Place) => (other: Place) => JSON.stringify(one) === JSON.stringify(other);

/** Whatever stands at one of the places is replaced by what `to` makes of it; by nothing: it is removed. */
function replaced(
  tree: Tree,
  at: Place,
  places: readonly Place[],
  to: (tree: Tree) => readonly Tree[],
): readonly Tree[] {
  if (places.some(same(at))) return to(tree);
  if (typeof tree === 'string') return [tree];
  if ('items' in tree) {
    return [{ items: tree.items.flatMap((item, index) => replaced(item, [...at, index], places, to)) }];
  }
  const members = tree.pairs.flatMap(([key, value]) =>
    replaced(value, [...at, key], places, to).map((one): Pair => [key, one]),
  );
  return [{ pairs: members }];
}

export const update = (tree: Tree, path: Segments, to: (tree: Tree) => Tree): Tree =>
  replaced(tree, [], placesOf(tree, path), (value) => [to(value)])[0] ?? tree;

export const remove = (tree: Tree, path: Segments): Tree =>
  replaced(tree, [], placesOf(tree, path), () => [])[0] ?? tree;

/** What is at the places, above or below them; undefined if nothing is. */
export function keep(tree: Tree, paths: readonly Segments[]): Tree | undefined {
  const places = paths.flatMap((path) => placesOf(tree, path));
  const isAbove = (at: Place) => places.some((place) => same(at)(place.slice(0, at.length)));
  const isBelow = (at: Place) => places.some((place) => same(place)(at.slice(0, place.length)));
  const kept = (inner: Tree, at: Place): readonly Tree[] => {
    if (isBelow(at)) return [inner];
    if (!isAbove(at) || typeof inner === 'string') return [];
    if ('items' in inner) return [{ items: inner.items.flatMap((item, index) => kept(item, [...at, index])) }];
    return [{ pairs: inner.pairs.flatMap(([key, value]) => kept(value, [...at, key]).map((one): Pair => [key, one])) }];
  };
  return kept(tree, [])[0];
}

/** For paths without patterns. `-1` is behind the last item. */
export function set(tree: Tree | undefined, [first, ...rest]: Segments, value: Tree): Tree {
  if (first === undefined) return value;
  if (tree !== undefined && isObject(tree)) {
    return fromPairs([...pairsOf(tree), [first, set(memberOf(tree, first), rest, value)]]);
  }
  const items = itemsOf(tree);
  const isIndex = /^(\d+|-1)$/.test(first);
  if (!isIndex && items !== undefined) throw new ModelFailure();
  if (!isIndex) return { pairs: [[first, set(undefined, rest, value)]] };
  const before = items ?? [];
  const at = first === '-1' ? before.length : Number(first);
  const length = Math.max(before.length, at + 1);
  return {
    items: Array.from({ length }, (_, index) =>
      index === at ? set(before[index], rest, value) : (before[index] ?? 'null'),
    ),
  };
}
