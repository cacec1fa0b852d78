/** The rules of one schema node (`x-kubernetes-validations`), compiled. The only file that meets the CEL library's errors. */
import { type Environment, EvaluationError, Optional, ParseError, TypeError } from '@marcbachmann/cel-js';
import type { ValidationRule } from '@polder/kube';
import { patternError } from '../schema/regular-expression.ts';
import type { Schema } from '../schema/schema.ts';
import { aligned } from './alignment.ts';
import { compileMessage, issue } from './compile-error.ts';
import { type DeclaredType, declareType } from './declared-type.ts';
import { newEnvironment, RENAMED } from './environment.ts';
import { mentions, renameCalls, tokensOf } from './source.ts';

/** An outcome of evaluating: a value, or what went wrong in the words of the real server. */
export type Outcome = { readonly value: unknown } | { readonly failed: string };

export interface CompiledRule {
  readonly rule: ValidationRule;
  readonly usesOldSelf: boolean;
  /** Why it cannot run: `compilation failed: …`. Such a rule makes its CRD invalid. */
  readonly error?: string;
  readonly messageError?: string;
  readonly evaluate: (self: unknown, oldSelf: unknown) => Outcome;
  readonly message?: (self: unknown, oldSelf: unknown) => Outcome;
}

/** undefined when nothing is known of the value's type: rules cannot see it. */
export function compileRules(schema: Schema, isResource: boolean): readonly CompiledRule[] | undefined {
  const env = newEnvironment();
  const type = declareType(env, schema, isResource);
  if (type === undefined) return undefined;
  env.registerVariable('self', type.name);
  const plain = env.clone().registerVariable('oldSelf', type.name);
  const optional = env.clone().registerVariable('oldSelf', `optional<${type.name}>`);
  const rules = schema.node['x-kubernetes-validations'] ?? [];
  return rules.map((rule) => compileRule(rule, schema, rule.optionalOldSelf ? optional : plain, type));
}

function compileRule(rule: ValidationRule, schema: Schema, env: Environment, type: DeclaredType): CompiledRule {
  const expression = rule.messageExpression ?? '';
  const usesOldSelf = mentions(rule.rule, 'oldSelf');
  const needsOldSelf = usesOldSelf || mentions(expression, 'oldSelf');
  const bind = (self: unknown, oldSelf: unknown) => ({
    self: type.toCel(self),
    ...(needsOldSelf && { oldSelf: bindOld(rule, type, aligned(schema, oldSelf, self)) }),
  });
  const condition = compile(env, rule.rule, 'bool');
  if ('error' in condition) {
    const error =
      condition.error === '' ? 'cel expression must evaluate to a bool' : `compilation failed: ${condition.error}`;
    return { rule, usesOldSelf, error, evaluate: () => ({ failed: error }) };
  }
  const evaluate: CompiledRule['evaluate'] = (self, oldSelf) => condition.run(bind(self, oldSelf));
  if (expression === '') return { rule, usesOldSelf, evaluate };
  const message = compile(env, expression, 'string');
  if (!('error' in message)) {
    return { rule, usesOldSelf, evaluate, message: (self, oldSelf) => message.run(bind(self, oldSelf)) };
  }
  const messageError =
    message.error === ''
      ? 'messageExpression must evaluate to a string'
      : `messageExpression compilation failed: ${message.error}`;
  return { rule, usesOldSelf, messageError, evaluate };
}

function bindOld(rule: ValidationRule, type: DeclaredType, oldSelf: unknown): unknown {
  const isAbsent = oldSelf === undefined || oldSelf === null;
  if (!rule.optionalOldSelf) return isAbsent ? undefined : type.toCel(oldSelf);
  return isAbsent ? Optional.none() : Optional.of(type.toCel(oldSelf));
}

type Compiled = { readonly run: (variables: Record<string, unknown>) => Outcome } | { readonly error: string };

/** The error is empty when the expression is sound but of another type. */
function compile(env: Environment, source: string, type: string): Compiled {
  const badPattern = invalidPattern(source);
  if (badPattern !== undefined) return { error: badPattern };
  try {
    const program = env.parse(renameCalls(source, RENAMED));
    const checked = program.check();
    if (checked.error !== undefined) throw checked.error;
    if (checked.type !== type) return { error: '' };
    return { run: (variables) => evaluate(program, variables) };
  } catch (error) {
    if (!(error instanceof ParseError || error instanceof TypeError)) throw error;
    const { code, summary, range, node } = error;
    const functions = new Set(env.getDefinitions().functions.map(({ name }) => name));
    const ast = node !== undefined && 'op' in node && isAst(node) ? node : undefined;
    return { error: compileMessage(source, { code, summary, start: range?.start ?? 0, node: ast }, functions) };
  }
}

type Ast = ReturnType<Environment['parse']>['ast'];
const isAst = (node: object): node is Ast => 'op' in node && 'args' in node && 'input' in node;

/** A pattern that is written down can be checked before any value is there. */
function invalidPattern(source: string): string | undefined {
  const tokens = tokensOf(source);
  for (const [index, token] of tokens.entries()) {
    const [pattern, end] = tokens.slice(index + 2);
    const isCall = token.text === 'matches' && tokens[index - 1]?.text === '.' && tokens[index + 1]?.text === '(';
    if (!isCall || pattern?.kind !== 'string' || end?.text !== ')') continue;
    const value: unknown = newEnvironment().parse(pattern.text)();
    if (typeof value === 'string' && patternError(value) !== undefined) {
      return issue(source, pattern.at, 'invalid matches argument');
    }
  }
  return undefined;
}

function evaluate(program: ReturnType<Environment['parse']>, variables: Record<string, unknown>): Outcome {
  try {
    const value: unknown = program(variables);
    return { value };
  } catch (error) {
    return { failed: failureOf(error) };
  }
}

function failureOf(error: unknown): string {
  if (!(error instanceof EvaluationError)) return error instanceof Error ? error.message : String(error);
  const { code, summary } = error;
  if (code === 'no_such_key') return summary.replace(/^No such key/, 'no such key');
  if (code === 'index_out_of_bounds') return `index out of bounds: ${/index (-?\d+)/.exec(summary)?.[1] ?? ''}`;
  if (code === 'numeric_overflow') return 'integer overflow';
  if (code === 'modulo_by_zero') return 'modulus by zero';
  if (code === 'no_such_overload' || code === 'no_matching_overload') return 'no such overload';
  return summary;
}
