/** What is wrong with an expression, in the layout and, as far as the library tells, in the words of cel-go. */
import type { ASTNode } from '@marcbachmann/cel-js';
import { RENAMED } from './environment.ts';

export interface Fault {
  readonly code: string;
  readonly summary: string;
  readonly start: number;
  readonly node: ASTNode | undefined;
}

/** `ERROR: <input>:1:5: undefined field 'x'`, the line, and a mark below it. */
export function compileMessage(source: string, fault: Fault, functions: ReadonlySet<string>): string {
  const { text, at } = explain(source, fault, functions);
  return issue(source, at, text);
}

export function issue(source: string, at: number, text: string): string {
  const before = source.slice(0, at).split('\n');
  const line = source.split('\n')[before.length - 1] ?? '';
  const column = before.at(-1)?.length ?? 0;
  return `ERROR: <input>:${before.length}:${column + 1}: ${text}\n | ${line}\n | ${'.'.repeat(column)}^`;
}

const EXPRESSION =
  "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";

function explain(source: string, fault: Fault, functions: ReadonlySet<string>): { text: string; at: number } {
  const { code, summary, start, node } = fault;
  if (code === 'undefined_field_in_has') {
    return { text: `undefined field '${summary}'`, at: source.indexOf('(', start) };
  }
  if (code === 'no_such_key') {
    const name = summary.replace(/^No such key: /, '');
    return { text: `undefined field '${name}'`, at: Math.max(source.lastIndexOf('.', start), 0) };
  }
  if (code === 'unknown_variable') return { text: undeclared(summary.replace(/^Unknown variable: /, '')), at: start };
  const operator = /^no such overload: (.+) (==|!=|<=|>=|<|>|\+|-|\*|\/|%|in) (.+)$/.exec(summary);
  if (operator) {
    const [, left = '', sign = '', right = ''] = operator;
    const name = sign === 'in' ? '@in' : `_${sign}_`;
    return { text: noOverload(name, `(${typeName(left)}, ${typeName(right)})`), at: operatorAt(source, node, sign) };
  }
  const call = /^found no matching overload for '(?:(.+)\.)?(\w+)\((.*)\)'$/.exec(summary);
  if (call) {
    const [, receiver, called = '', parameters = ''] = call;
    const name = originalName(called);
    const at = callAt(source, node, name, start);
    if (!functions.has(called)) return { text: undeclared(name), at };
    const target = receiver === undefined ? '' : `${typeName(receiver)}.`;
    return { text: noOverload(name, `${target}(${typeName(parameters)})`), at };
  }
  if (/Unexpected token: EOF/.test(summary)) {
    return { text: `Syntax error: mismatched input '<EOF>' expecting ${EXPRESSION}`, at: source.length };
  }
  return { text: code === 'unexpected_token' ? `Syntax error: ${summary}` : summary, at: start };
}

const undeclared = (name: string) => `undeclared reference to '${name}' (in container '')`;
const noOverload = (name: string, types: string) => `found no matching overload for '${name}' applied to '${types}'`;

const originalName = (name: string) => Object.entries(RENAMED).find(([, ours]) => ours === name)?.[0] ?? name;

const typeName = (name: string) =>
  name
    .replaceAll('google.protobuf.', '')
    .replaceAll('Timestamp', 'timestamp')
    .replaceAll('Duration', 'duration')
    .replaceAll(/object\.N\d+/g, 'object')
    .replaceAll('<', '(')
    .replaceAll('>', ')');

/** The library marks the start of a whole operation; cel-go its operator. */
function operatorAt(source: string, node: ASTNode | undefined, sign: string): number {
  const left = Array.isArray(node?.args) ? node.args[0] : undefined;
  const end = typeof left === 'object' && left !== null && 'end' in left && typeof left.end === 'number' ? left.end : 0;
  return source.indexOf(sign, end);
}

/** cel-go marks the parenthesis of a call. */
function callAt(source: string, node: ASTNode | undefined, name: string, start: number): number {
  const receiver = node?.op === 'rcall' ? node.args[1].end : start;
  return source.indexOf('(', source.indexOf(name, receiver));
}
