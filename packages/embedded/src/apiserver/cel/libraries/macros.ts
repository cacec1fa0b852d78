import { type ASTNode, type Environment, Optional } from '@marcbachmann/cel-js';

/** What the library hands to macros; its own declarations leave these untyped. */
interface Type {
  readonly kind: string;
  readonly keyType?: Type;
  readonly valueType?: Type;
}
interface Context {
  forkWithVariable(name: string, type: Type): Context;
  reuse(parent: Context): Context;
  setIterValue(value: unknown, evaluator: Evaluator): Context;
}
interface Checker {
  check(node: ASTNode, context: Context): Type;
  getType(name: string): Type;
  createError(code: string, message: string, node: ASTNode): Error;
}
interface Evaluator {
  run(node: ASTNode, context: Context): unknown;
}
interface Call {
  readonly args: readonly ASTNode[];
  readonly receiver?: ASTNode;
  readonly ast: ASTNode;
}

/** The name under which `has` is checked: the library's own does not see that a field is unknown. See `environment.ts`. */
export const HAS = 'hAs';

export function registerMacros(env: Environment): void {
  env.registerFunction(`${HAS}(ast): bool`, hasMacro);
  env.registerFunction(
    'optional.optMap(ast, ast): optional<dyn>',
    optionalMacro('optMap', (value) => Optional.of(value)),
  );
  env.registerFunction(
    'optional.optFlatMap(ast, ast): optional<dyn>',
    optionalMacro('optFlatMap', (value) => value),
  );
  const over = (name: string, returns: string, ...macros: readonly Fold[]) => {
    for (const fold of macros) {
      const parameters = Array.from({ length: fold.parts + 2 }, () => 'ast').join(', ');
      env.registerFunction(`list.${name}(${parameters}): ${returns}`, twoVariables(name, fold));
    }
  };
  const all: Fold = { parts: 1, type: bool, of: (entries) => entries.every(([holds]) => holds === true) };
  const exists: Fold = { parts: 1, type: bool, of: (entries) => entries.some(([holds]) => holds === true) };
  const one: Fold = { parts: 1, type: bool, of: (entries) => entries.filter(([holds]) => holds === true).length === 1 };
  over('all', 'bool', all);
  over('exists', 'bool', exists);
  over('existsOne', 'bool', one);
  over('transformList', 'list<dyn>', ...withFilter(listOfValues));
  over('transformMap', 'map<dyn, dyn>', ...withFilter(mapOfValues));
  over('transformMapEntry', 'map<dyn, dyn>', ...withFilter(mapOfEntries));
}

function hasMacro({ args, ast }: Call) {
  const [node] = args;
  return {
    async: false,
    typeCheck(checker: Checker, _: unknown, context: Context): Type {
      if (node === undefined || (node.op !== '.' && node.op !== '.?')) {
        throw checker.createError('invalid_macro_argument', 'invalid argument to has() macro', ast);
      }
      checker.check(node.args[0], context);
      try {
        checker.check(node, context);
      } catch (error) {
        if (error instanceof Error && 'code' in error && error.code === 'no_such_key') {
          throw checker.createError('undefined_field_in_has', node.args[1], ast);
        }
        throw error;
      }
      return checker.getType('bool');
    },
    evaluate(evaluator: Evaluator, _: unknown, context: Context): boolean {
      if (node === undefined || (node.op !== '.' && node.op !== '.?')) return false;
      const target = unwrapped(evaluator.run(node.args[0], context));
      if (target instanceof Map) return target.get(node.args[1]) !== undefined;
      return typeof target === 'object' && target !== null && Object.hasOwn(target, node.args[1]);
    },
  };
}

/** `opt.optMap(v, expression)`: the expression with the value, or nothing. */
function optionalMacro(name: string, wrap: (value: unknown) => unknown) {
  return ({ args, receiver, ast }: Call) => {
    const [variable, expression] = args;
    let inner: Context | undefined;
    return {
      async: false,
      typeCheck(checker: Checker, _: unknown, context: Context): Type {
        if (variable?.op !== 'id' || expression === undefined || receiver === undefined) {
          throw checker.createError('invalid_macro_argument', `${name}(v, …) takes a variable`, ast);
        }
        const type = checker.check(receiver, context);
        inner = context.forkWithVariable(variable.args, type.valueType ?? checker.getType('dyn'));
        checker.check(expression, inner);
        return checker.getType('optional<dyn>');
      },
      evaluate(evaluator: Evaluator, _: unknown, context: Context): unknown {
        const value = receiver && evaluator.run(receiver, context);
        if (!(value instanceof Optional) || !value.hasValue() || expression === undefined) return Optional.none();
        const here = inner?.reuse(context).setIterValue(value.value(), evaluator);
        return here === undefined ? Optional.none() : wrap(evaluator.run(expression, here));
      },
    };
  };
}

const unwrapped = (value: unknown): unknown =>
  value instanceof Optional ? (value.hasValue() ? value.value() : undefined) : value;

type Entry = readonly [key: unknown, value: unknown];

/** A macro over keys and values: its parts are computed for each entry, then put together. */
interface Fold {
  readonly parts: number;
  readonly type: (checker: Checker) => Type;
  readonly of: (entries: readonly (readonly unknown[])[], keys: readonly unknown[]) => unknown;
}

const bool = (checker: Checker) => checker.getType('bool');
const listOfValues = (entries: readonly Entry[]) => entries.map(([, value]) => value);
const mapOfValues = (entries: readonly Entry[]) => new Map(entries);
const mapOfEntries = (entries: readonly Entry[]) => new Map(entries.flatMap(([, value]) => entriesOf(value)));

/** `transform…(k, v, value)` and `transform…(k, v, filter, value)`. */
function withFilter(put: (entries: readonly Entry[]) => unknown): readonly Fold[] {
  const type = (checker: Checker) => checker.getType(put === listOfValues ? 'list<dyn>' : 'map<dyn, dyn>');
  return [
    { parts: 1, type, of: (entries, keys) => put(entries.map(([value], index) => [keys[index], value])) },
    {
      parts: 2,
      type,
      of: (entries, keys) =>
        put(entries.flatMap(([isWanted, value], index): Entry[] => (isWanted === true ? [[keys[index], value]] : []))),
    },
  ];
}

function entriesOf(value: unknown): readonly Entry[] {
  if (Array.isArray(value)) return value.map((item: unknown, index): Entry => [BigInt(index), item]);
  if (value instanceof Map) return [...value];
  return typeof value === 'object' && value !== null ? Object.entries(value) : [];
}

function twoVariables(name: string, fold: Fold) {
  return ({ args, receiver, ast }: Call) => {
    const [first, second, ...parts] = args;
    let outer: Context | undefined;
    let inner: Context | undefined;
    return {
      async: false,
      typeCheck(checker: Checker, _: unknown, context: Context): Type {
        if (first?.op !== 'id' || second?.op !== 'id' || receiver === undefined) {
          throw checker.createError('invalid_macro_argument', `${name}(k, v, …) takes two variables`, ast);
        }
        const type = checker.check(receiver, context);
        const dyn = checker.getType('dyn');
        const keyType = type.kind === 'list' ? checker.getType('int') : (type.keyType ?? dyn);
        outer = context.forkWithVariable(first.args, keyType);
        inner = outer.forkWithVariable(second.args, type.valueType ?? dyn);
        for (const part of parts) checker.check(part, inner);
        return fold.type(checker);
      },
      evaluate(evaluator: Evaluator, _: unknown, context: Context): unknown {
        const entries = receiver === undefined ? [] : entriesOf(evaluator.run(receiver, context));
        const results = entries.map(([key, value]) => {
          const scope = outer?.reuse(context).setIterValue(key, evaluator);
          const here = scope && inner?.reuse(scope).setIterValue(value, evaluator);
          return here === undefined ? [] : parts.map((part) => evaluator.run(part, here));
        });
        return fold.of(
          results,
          entries.map(([key]) => key),
        );
      },
    };
  };
}
