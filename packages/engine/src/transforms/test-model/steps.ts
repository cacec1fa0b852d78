/** Every transformation once more, each with any config that the model knows to answer for. */
import fc from 'fast-check';
import type { TransformSpec, TransformType } from '../chain.ts';
import { type Asked, asked } from './conditions.ts';
import { anyPath, anyPaths, key, name, singlePath, targetPath } from './paths.ts';
import {
  fromPairs,
  get,
  isEach,
  isObject,
  isPattern,
  itemsOf,
  keep,
  ModelFailure,
  matches,
  memberOf,
  type Pair,
  pairsOf,
  pathText,
  print,
  remove,
  type Segments,
  set,
  type Tree,
  text,
  update,
} from './tree.ts';
import { cast, inPlusTwo, numberIn, type Type, textOf } from './values.ts';

/** A message; without a tree it has no payload. */
export interface ModelMessage {
  readonly tree: Tree | undefined;
  readonly metadata: Readonly<Record<string, unknown>>;
}

type Apply = (message: ModelMessage) => readonly ModelMessage[];

/** A transformation, and what it should do. Throws `ModelFailure` where it should fail. */
export interface ModelStep {
  readonly spec: TransformSpec;
  readonly apply: Apply;
}

type Change = (tree: Tree, metadata: ModelMessage['metadata']) => Tree;

const over =
  (change: Change): Apply =>
  ({ tree, metadata }) => [{ tree: tree === undefined ? tree : change(tree, metadata), metadata }];

const overObjects = (change: Change): Apply =>
  over((tree, metadata) => (isObject(tree) ? change(tree, metadata) : tree));

/** The clock of the tests stands at 2026-03-01T12:00:00.12Z. */
const NOW = '2026-03-01T12:00:00Z';
const NOW_IN = {
  RFC3339: NOW,
  RFC3339Nano: '2026-03-01T12:00:00.12Z',
  Unix: '1772366400',
  UnixMilli: '1772366400120',
  '2006-01-02 15:04:05': '2026-03-01 12:00:00',
};

const timestamp = fc.tuple(targetPath, fc.constantFrom(...Object.entries(NOW_IN))).map(
  ([path, [format, now]]): ModelStep => ({
    spec: { type: 'timestamp', config: { fieldName: pathText(path), format } },
    apply: overObjects((tree) => set(tree, path, text(now))),
  }),
);

const flatten = singlePath.map(
  (path): ModelStep => ({
    spec: { type: 'flatten', config: { field: `$.${pathText(path)}` } },
    apply: ({ tree, metadata }) => flattened(tree, path).map((one) => ({ tree: one, metadata })),
  }),
);

function flattened(tree: Tree | undefined, path: Segments): readonly (Tree | undefined)[] {
  const value = get(tree, path);
  const [wrapper, ...more] = pairsOf(value);
  const items = itemsOf(value) ?? (wrapper?.[0] === 'array' && more.length === 0 ? itemsOf(wrapper[1]) : undefined);
  if (tree === undefined || !isObject(tree) || items === undefined) return [tree];
  const rest = pairsOf(remove(tree, path));
  if (items.length === 0) return [{ pairs: rest }];
  return items.map((item) =>
    fromPairs([...rest, ...(isObject(item) ? pairsOf(item) : [[path.at(-1) ?? '', item] as const])]),
  );
}

const filter = asked.map(
  ({ condition, isMet }): ModelStep => ({
    spec: { type: 'filter', config: { condition } },
    apply: (message) => (isMet(message.tree) ? [message] : []),
  }),
);

const mask = fc
  .tuple(anyPaths, fc.constantFrom(undefined, '#', 'ab'), fc.boolean())
  .map(([paths, maskChar, keepLength]): ModelStep => {
    const masked = (value: Tree) => text((maskChar ?? '*').repeat(keepLength ? Array.from(textOf(value)).length : 3));
    return {
      spec: { type: 'mask', config: { fields: paths.map(pathText), keepLength, ...(maskChar && { maskChar }) } },
      apply: over((tree) => paths.reduce((sum, path) => update(sum, path, masked), tree)),
    };
  });

const router = fc.array(asked, { minLength: 1, maxLength: 3 }).map(
  (routes: readonly Asked[]): ModelStep => ({
    spec: { type: 'router', config: { routes: routes.map(({ condition }) => ({ condition })) } },
    apply: ({ tree, metadata }) => {
      const first = routes.find(({ isMet }) => isMet(tree));
      return [{ tree, metadata: first ? { ...metadata, routed_condition: first.condition } : metadata }];
    },
  }),
);

const select = anyPaths.map(
  (paths): ModelStep => ({
    spec: { type: 'select', config: { fields: paths.map(pathText) } },
    apply: over((tree) => {
      if (typeof tree === 'string') return tree;
      const pairs = paths.flatMap((path) => selected(tree, path, nameOf(path)));
      return pairs.length > 0 || isObject(tree) ? fromPairs(pairs) : tree;
    }),
  }),
);

const isPlain = (segment: string) => !isEach(segment) && !isPattern(segment);
const nameOf = (path: Segments) => path.findLast(isPlain) ?? pathText(path);

/** What the first pattern matches comes one by one, all else as it is read. */
function selected(tree: Tree, path: Segments, called: string): readonly Pair[] {
  const at = path.findIndex((segment) => !isPlain(segment));
  const pattern = path[at];
  if (pattern === undefined || !isPattern(pattern)) {
    const value = get(tree, path);
    return value === undefined ? [] : [[called, value]];
  }
  const rest = path.slice(at + 1);
  return pairsOf(get(tree, path.slice(0, at)))
    .filter(([member]) => matches(pattern, member))
    .flatMap(([member, value]) => (rest.length === 0 ? [[member, value] as const] : selected(value, rest, called)));
}

const removes = anyPaths.map(
  (paths): ModelStep => ({
    spec: { type: 'remove', config: { fields: paths.map(pathText) } },
    apply: over((tree) => paths.reduce(remove, tree)),
  }),
);

const renamed = (rename: (key: string) => string, deep: boolean): Apply => {
  const all = (tree: Tree, isTop: boolean): Tree => {
    if (typeof tree === 'string' || (!isTop && !deep)) return tree;
    if ('items' in tree) return deep ? { items: tree.items.map((item) => all(item, false)) } : tree;
    return fromPairs(tree.pairs.map(([member, value]) => [rename(member), all(value, false)]));
  };
  return over((tree) => all(tree, true));
};

/** An underscore between a small letter or digit and a capital, and before the last of several capitals that begins a word. */
const snake = (given: string) =>
  given
    .replaceAll(/([a-z0-9])(?=[A-Z])/g, '$1_')
    .replaceAll(/([A-Z])(?=[A-Z][a-z])/g, '$1_')
    .toLowerCase();

const camel = (given: string) =>
  (given.match(/[^_]+/g) ?? [given]).map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join('');

const snakeCase = fc
  .boolean()
  .map((deep): ModelStep => ({ spec: { type: 'snakeCase', config: { deep } }, apply: renamed(snake, deep) }));
const camelCase = fc
  .boolean()
  .map((deep): ModelStep => ({ spec: { type: 'camelCase', config: { deep } }, apply: renamed(camel, deep) }));

/** Keys of records, and the rows that they name. */
export const KEYS_OF_ROWS: readonly (readonly [unknown, Tree | undefined])[] = [
  ['{"id":0.10}', { pairs: [['id', '0.10']] }],
  ['{"schema":{},"payload":{"id":7}}', { pairs: [['id', '7']] }],
  ['no JSON', undefined],
  [null, undefined],
];

const OPERATIONS: Readonly<Record<string, 'insert' | 'update' | 'delete' | 'snapshot'>> = {
  '"c"': 'insert',
  '"u"': 'update',
  '"r"': 'snapshot',
  '"d"': 'delete',
};

const debeziumUnwrap = fc
  .record({
    inferDeleteFromTombstone: fc.boolean(),
    includeSourceInMetadata: fc.boolean(),
    snapshotOperation: fc.constantFrom('insert', 'update'),
    addOperationFields: fc.boolean(),
    addSourceFields: fc.array(key, { maxLength: 2 }),
  })
  .map((config): ModelStep => {
    const unwrapped = (row: Tree, op: string, operation: string, source: Tree | undefined) => {
      const told = config.addOperationFields
        ? [['__op', op] as const, ['__deleted', text(String(operation === 'delete'))] as const]
        : [];
      const sourced = config.addSourceFields.flatMap((field): readonly Pair[] => {
        const value = memberOf(source, field);
        return value === undefined ? [] : [[`source_${field}`, value]];
      });
      return fromPairs([...pairsOf(row), ...told, ...sourced]);
    };
    return {
      spec: { type: 'debeziumUnwrap', config },
      apply: ({ tree, metadata }) => {
        if (tree === undefined) {
          const [, row] = KEYS_OF_ROWS.find(([one]) => one === metadata['key']) ?? [];
          if (!config.inferDeleteFromTombstone || row === undefined) return [];
          const deleted = unwrapped(row, '"d"', 'delete', undefined);
          return [{ tree: deleted, metadata: { ...metadata, operation: 'delete' } }];
        }
        const payload = memberOf(tree, 'payload');
        const op = memberOf(payload, 'op');
        const happened = typeof op === 'string' ? OPERATIONS[op] : undefined;
        if (typeof op !== 'string' || happened === undefined) return [{ tree, metadata }];
        const row = memberOf(payload, happened === 'delete' ? 'before' : 'after');
        if (row === undefined || !isObject(row)) throw new ModelFailure();
        const operation = happened === 'snapshot' ? config.snapshotOperation : happened;
        const source = memberOf(payload, 'source');
        const told = config.includeSourceInMetadata
          ? Object.fromEntries(pairsOf(source).map(([field, value]) => [`source_${field}`, plain(value)]))
          : {};
        return [{ tree: unwrapped(row, op, operation, source), metadata: { ...metadata, ...told, operation } }];
      },
    };
  });

/** A value of JavaScript if that says the same, else its JSON. */
function plain(tree: Tree): unknown {
  const number = numberIn(tree);
  if (typeof tree !== 'string' || (number !== undefined && String(Number(number)) !== number)) return print(tree);
  return JSON.parse(tree);
}

const rename = fc.tuple(singlePath, targetPath);

const replaceField = fc
  .tuple(fc.array(rename, { maxLength: 2 }), fc.constantFrom('include', 'exclude'), anyPaths)
  .map(([renames, which, paths]): ModelStep => {
    const kept = (tree: Tree) =>
      which === 'include' ? (keep(tree, paths) ?? { pairs: [] }) : paths.reduce(remove, tree);
    return {
      spec: {
        type: 'replaceField',
        config: {
          renames: renames.map(([from, to]) => `${pathText(from)}:${pathText(to)}`),
          [which]: paths.map(pathText),
        },
      },
      apply: overObjects((tree) => renames.reduce((sum, [from, to]) => moved(sum, from, to), kept(tree))),
    };
  });

function moved(tree: Tree, from: Segments, to: Segments): Tree {
  const value = get(tree, from);
  if (value === undefined || pathText(from) === pathText(to)) return tree;
  const gone = emptied(tree, from);
  const parent = get(tree, gone.slice(0, -1));
  const isNeighbour = pathText(gone.slice(0, -1)) === pathText(to.slice(0, -1));
  if (!isNeighbour || !isObject(parent)) return set(remove(tree, gone), to, value);
  const [oldKey, newKey] = [gone.at(-1), to.at(-1) ?? ''];
  const pairs = pairsOf(parent).flatMap(([member, other]): readonly Pair[] => {
    if (member === oldKey) return [[newKey, value]];
    return member === newKey ? [] : [[member, other]];
  });
  return gone.length === 1 ? { pairs } : update(tree, gone.slice(0, -1), () => ({ pairs }));
}

/** What goes with a value: the objects that held nothing else. Where there is a list on the way, nothing does. */
function emptied(tree: Tree, path: Segments): Segments {
  const parents = path.map((_, at) => get(tree, path.slice(0, at)));
  if (!parents.every((parent) => isObject(parent))) return path;
  const last = parents.findLastIndex((parent) => pairsOf(parent).length > 1);
  return path.slice(0, Math.max(last, 0) + 1);
}

/** Headers that messages may have, and those that are asked for. */
export const HEADERS: Readonly<Record<string, unknown>> = { h: 'x', list: ['a', null], none: null, __proto: '"' };
const HEADER_TEXTS: Readonly<Record<string, string>> = { h: 'x', list: '["a",null]', __proto: '"' };

const headersToPayload = fc
  .array(fc.tuple(fc.constantFrom('h', 'list', 'none', 'missing', '__proto'), targetPath), {
    minLength: 1,
    maxLength: 3,
  })
  .map(
    (mappings): ModelStep => ({
      spec: {
        type: 'headersToPayload',
        config: { mappings: mappings.map(([header, path]) => `${header}:${pathText(path)}`) },
      },
      apply: overObjects((tree, { headers }) => {
        if (headers !== HEADERS) return tree;
        return mappings.reduce((sum, [header, path]) => {
          const value = HEADER_TEXTS[header];
          return value === undefined ? sum : set(sum, path, text(value));
        }, tree);
      }),
    }),
  );

const leaves = (tree: Tree, prefix: string): readonly Pair[] =>
  pairsOf(tree).flatMap(([member, value]) =>
    isObject(value) ? leaves(value, `${prefix}${member}_`) : [[prefix + member, value]],
  );

const structFlatten = fc.constant<ModelStep>({
  spec: { type: 'structFlatten', config: { delimiter: '_' } },
  apply: overObjects((tree) => fromPairs(leaves(tree, ''))),
});

const extractField = anyPath.map(
  (path): ModelStep => ({
    spec: { type: 'extractField', config: { field: pathText(path) } },
    apply: over((tree) => get(tree, path) ?? tree),
  }),
);

const hoistField = fc.constantFrom('a', '10', '__proto__').map(
  (field): ModelStep => ({
    spec: { type: 'hoistField', config: { field } },
    apply: over((tree) => ({ pairs: [[field, tree]] })),
  }),
);

export const TYPES = ['string', 'int64', 'float64', 'bool', 'null'] as const satisfies readonly Type[];

export const castTo = (path: Segments, type: Type): ModelStep => ({
  spec: { type: 'cast', config: { spec: { [pathText(path)]: type } } },
  apply: over((tree) => update(tree, path, (value) => cast(value, type))),
});

const casts = fc.tuple(anyPath, fc.constantFrom(...TYPES)).map(([path, type]) => castTo(path, type));

const timezone = anyPaths.map(
  (paths): ModelStep => ({
    spec: { type: 'timezone', config: { timezone: '+02:00', fields: paths.map(pathText) } },
    apply: over((tree) => paths.reduce((sum, path) => update(sum, path, inPlusTwo), tree)),
  }),
);

/** What stands in a config, and what comes of it. */
const INSERTED: readonly (readonly [string, (metadata: ModelMessage['metadata']) => Tree])[] = [
  ['a text', () => text('a text')],
  ['${now}', () => text(NOW)],
  [
    'json:[0.10, {"10":1,"2":null}]',
    () => ({
      items: [
        '0.10',
        {
          pairs: [
            ['10', '1'],
            ['2', 'null'],
          ],
        },
      ],
    }),
  ],
  ['${metadata.key}', ({ key: value }) => text(typeof value === 'string' ? value : '')],
  ['${metadata.missing}', () => text('')],
];

const insertField = fc
  .tuple(
    // Names that JavaScript would not move to the front of the config.
    fc.array(fc.tuple(name, targetPath), { minLength: 1, maxLength: 2 }),
    fc.constantFrom(...INSERTED),
  )
  .map(([targets, [value, comes]]): ModelStep => {
    const fields = new Map(targets.map(([first, rest]) => [pathText([first, ...rest]), [first, ...rest]]));
    return {
      spec: {
        type: 'insertField',
        config: { fields: Object.fromEntries([...fields.keys()].map((one) => [one, value])) },
      },
      apply: overObjects((tree, metadata) =>
        [...fields.values()].reduce((sum, path) => set(sum, path, comes(metadata)), tree),
      ),
    };
  });

/** The compiler asks for each type there is. */
export const STEPS: Readonly<Record<TransformType, fc.Arbitrary<ModelStep>>> = {
  timestamp,
  flatten,
  filter,
  mask,
  router,
  select,
  remove: removes,
  snakeCase,
  camelCase,
  debeziumUnwrap,
  replaceField,
  headersToPayload,
  structFlatten,
  extractField,
  hoistField,
  cast: casts,
  timezone,
  insertField,
};
