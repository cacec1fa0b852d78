/**
 * What transformations do, once more, slowly and without any sharing, fast path or compiled path: objects are lists of
 * pairs, scalars their text. Small enough to be read through and believed.
 */
import { toCamelCase } from './camel-case.ts';
import type { TransformSpec } from './chain.ts';
import { toSnakeCase } from './snake-case.ts';

export type Tree = string | { readonly items: readonly Tree[] } | { readonly pairs: readonly Pair[] };
export type Pair = readonly [string, Tree];

/** `#` is every element; a number an index, or a key of an object. */
export type Segments = readonly string[];

export function print(tree: Tree): string {
  if (typeof tree === 'string') return tree;
  if ('items' in tree) return `[${tree.items.map(print).join(',')}]`;
  return `{${tree.pairs.map(([key, value]) => `${JSON.stringify(key)}:${print(value)}`).join(',')}}`;
}

/** Of equal keys the first keeps its place and the last its value. */
export function distinct(tree: Tree): Tree {
  if (typeof tree === 'string') return tree;
  if ('items' in tree) return { items: tree.items.map(distinct) };
  return fromPairs(tree.pairs.map(([key, value]) => [key, distinct(value)]));
}

function fromPairs(pairs: readonly Pair[]): { readonly pairs: readonly Pair[] } {
  const keys = pairs.map(([key]) => key).filter((key, at, all) => all.indexOf(key) === at);
  return { pairs: keys.map((key) => [key, pairs.findLast(([name]) => name === key)?.[1] ?? 'null']) };
}

const isObject = (tree: Tree) => typeof tree === 'object' && 'pairs' in tree;
const pairsOf = (tree: Tree) => (typeof tree === 'object' && 'pairs' in tree ? tree.pairs : []);
const itemsOf = (tree: Tree) => (typeof tree === 'object' && 'items' in tree ? tree.items : undefined);

function get(tree: Tree | undefined, [first, ...rest]: Segments): Tree | undefined {
  if (tree === undefined || first === undefined) return tree;
  const items = itemsOf(tree);
  if (first === '#' && items !== undefined) {
    if (rest.length === 0) return String(items.length);
    return { items: items.flatMap((item) => get(item, rest) ?? []) };
  }
  if (items !== undefined) return get(/^\d+$/.test(first) ? items[Number(first)] : undefined, rest);
  return get(first === '#' ? undefined : pairsOf(tree).find(([key]) => key === first)?.[1], rest);
}

/** `change` gives none: it is removed. */
function change(tree: Tree, [first, ...rest]: Segments, to: (tree: Tree) => readonly Tree[]): readonly Tree[] {
  if (first === undefined) return to(tree);
  const items = itemsOf(tree);
  if (items !== undefined) {
    return [
      { items: items.flatMap((item, at) => (first === '#' || first === String(at) ? change(item, rest, to) : [item])) },
    ];
  }
  if (!isObject(tree) || first === '#') return [tree];
  return [
    {
      pairs: pairsOf(tree).flatMap(([key, value]): readonly Pair[] =>
        key === first ? change(value, rest, to).map((changed) => [key, changed]) : [[key, value]],
      ),
    },
  ];
}

const map = (tree: Tree, path: Segments, to: (tree: Tree) => readonly Tree[]): Tree =>
  change(tree, path, to)[0] ?? tree;

export class ModelFailure extends Error {}

/** Without indices: those are for the tables of `path.test.ts`. */
function set(tree: Tree | undefined, [first, ...rest]: Segments, value: Tree): Tree {
  if (first === undefined) return value;
  if (tree !== undefined && itemsOf(tree) !== undefined) throw new ModelFailure();
  const pairs = tree === undefined ? [] : pairsOf(tree);
  return fromPairs([...pairs, [first, set(pairs.find(([key]) => key === first)?.[1], rest, value)]]);
}

/** What the model can do, with paths as segments. */
export type ModelStep =
  | { readonly type: 'mask' | 'remove' | 'select'; readonly paths: readonly Segments[] }
  | { readonly type: 'flatten' | 'extractField'; readonly path: Segments }
  | { readonly type: 'filter'; readonly path: Segments; readonly equals: string | undefined }
  | { readonly type: 'hoistField' | 'insertField'; readonly key: string; readonly inner: readonly string[] }
  | { readonly type: 'snakeCase' | 'camelCase'; readonly deep: boolean }
  | { readonly type: 'structFlatten' };

const pathText = (path: Segments): string => path.map((segment) => segment.replaceAll('.', '\\.')).join('.');

export function specOf(step: ModelStep): TransformSpec {
  switch (step.type) {
    case 'mask':
    case 'remove':
    case 'select':
      return { type: step.type, config: { fields: step.paths.map(pathText) } };
    case 'flatten':
    case 'extractField':
      return { type: step.type, config: { field: `$.${pathText(step.path)}` } };
    case 'filter':
      return {
        type: 'filter',
        config: { condition: pathText(step.path) + (step.equals === undefined ? '' : ` == '${step.equals}'`) },
      };
    case 'hoistField':
      return { type: 'hoistField', config: { field: step.key } };
    case 'insertField':
      return { type: 'insertField', config: { fields: { [pathText([step.key, ...step.inner])]: 'json:[0.10]' } } };
    case 'snakeCase':
    case 'camelCase':
      return { type: step.type, config: { deep: step.deep } };
    case 'structFlatten':
      return { type: 'structFlatten', config: { delimiter: '_' } };
  }
}

export function apply(step: ModelStep, tree: Tree): readonly Tree[] {
  switch (step.type) {
    case 'mask':
      return [step.paths.reduce((masked, path) => map(masked, path, () => ['"***"']), tree)];
    case 'remove':
      return [step.paths.reduce((left, path) => map(left, path, () => []), tree)];
    case 'select':
      return [select(tree, step.paths)];
    case 'flatten':
      return flatten(tree, step.path);
    case 'extractField':
      return [get(tree, step.path) ?? tree];
    case 'filter':
      return isMet(get(tree, step.path), step.equals) ? [tree] : [];
    case 'hoistField':
      return [{ pairs: [[step.key, tree]] }];
    case 'insertField':
      return [isObject(tree) ? set(tree, [step.key, ...step.inner], { items: ['0.10'] }) : tree];
    case 'snakeCase':
      return [renameKeys(tree, step.deep, toSnakeCase)];
    case 'camelCase':
      return [renameKeys(tree, step.deep, toCamelCase)];
    case 'structFlatten':
      return [isObject(tree) ? fromPairs(leaves(tree, '')) : tree];
  }
}

function select(tree: Tree, paths: readonly Segments[]): Tree {
  if (typeof tree === 'string') return tree;
  const pairs = paths.flatMap((path): readonly Pair[] => {
    const value = get(tree, path);
    return value === undefined ? [] : [[path.findLast((segment) => segment !== '#') ?? '#', value]];
  });
  return pairs.length > 0 || isObject(tree) ? fromPairs(pairs) : tree;
}

function flatten(tree: Tree, path: Segments): readonly Tree[] {
  const value = get(tree, path);
  const [wrapper, ...more] = value === undefined ? [] : pairsOf(value);
  const isWrapped = wrapper?.[0] === 'array' && more.length === 0;
  const items = value === undefined ? undefined : (itemsOf(value) ?? (isWrapped ? itemsOf(wrapper[1]) : undefined));
  if (!isObject(tree) || items === undefined) return [tree];
  const rest = pairsOf(map(tree, path, () => []));
  if (items.length === 0) return [{ pairs: rest }];
  return items.map((item) =>
    fromPairs([...rest, ...(isObject(item) ? pairsOf(item) : [[path.at(-1) ?? '', item] as const])]),
  );
}

function isMet(value: Tree | undefined, equals: string | undefined): boolean {
  if (value === undefined) return false;
  if (equals === undefined) return !['false', 'null', '""', '"false"', '0', '-0', '0.0'].includes(print(value));
  const text = print(value);
  if (text === 'null') return equals === '';
  return ({ '1e3': '1000', '0.10': '0.1', '0.0': '0' }[text] ?? text.replace(/^"(.*)"$/, '$1')) === equals;
}

function renameKeys(tree: Tree, deep: boolean, rename: (key: string) => string): Tree {
  const inner = (value: Tree) => (deep ? renameKeys(value, deep, rename) : value);
  const items = itemsOf(tree);
  if (items !== undefined) return { items: items.map(inner) };
  return isObject(tree) ? fromPairs(pairsOf(tree).map(([key, value]) => [rename(key), inner(value)])) : tree;
}

const leaves = (tree: Tree, prefix: string): readonly Pair[] =>
  pairsOf(tree).flatMap(([key, value]) =>
    isObject(value) ? leaves(value, `${prefix}${key}_`) : [[prefix + key, value]],
  );
