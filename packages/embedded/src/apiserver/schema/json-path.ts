/**
 * The JSONPath of printer columns and scale paths (`k8s.io/client-go/util/jsonpath`, without templates): fields, indexes,
 * slices, wildcards, recursive descent and filters. A missing field is no error: it finds nothing.
 */
import { isNumeric } from '../exact-json.ts';
import { isObject } from './schema.ts';

export type JsonPath = (object: unknown) => readonly unknown[];

/** undefined when the text is no path. */
export function compileJsonPath(text: string): JsonPath | undefined {
  const steps = new Parser(text).steps();
  return steps && ((object) => follow(steps, [object]));
}

type Step = (values: readonly unknown[]) => readonly unknown[];

const follow = (steps: readonly Step[], from: readonly unknown[]) => steps.reduce((values, step) => step(values), from);

const field =
  (name: string): Step =>
  (values) =>
    values.flatMap((value) => (isObject(value) && Object.hasOwn(value, name) ? [value[name]] : []));

const all: Step = (values) => values.flatMap(members);

const members = (value: unknown): readonly unknown[] => {
  if (Array.isArray(value)) return value;
  return isObject(value) ? Object.values(value) : [];
};

const descend: Step = (values) => values.flatMap((value) => [value, ...descend(members(value))]);

const slice =
  (start: number | undefined, end: number | undefined, stride = 1): Step =>
  (values) =>
    values.flatMap((value) => {
      if (!Array.isArray(value)) return [];
      return value.slice(start, end).filter((_, index) => index % stride === 0);
    });

const item =
  (index: number): Step =>
  (values) =>
    values.flatMap((value) => {
      const at = Array.isArray(value) && index < 0 ? value.length + index : index;
      return Array.isArray(value) && at >= 0 && at < value.length ? [value[at]] : [];
    });

type Operand = (value: unknown) => readonly unknown[];

function filter(left: Operand, operator: string | undefined, right: Operand | undefined): Step {
  const holds = (value: unknown) => {
    const found = left(value);
    if (operator === undefined || right === undefined) return found.length > 0;
    const other = right(value);
    return found.length > 0 && other.length > 0 && compare(found[0], operator, other[0]);
  };
  return (values) => values.flatMap((value) => (Array.isArray(value) ? value.filter(holds) : []));
}

function compare(left: unknown, operator: string, right: unknown): boolean {
  if (operator === '==') return left === right;
  if (operator === '!=') return left !== right;
  const isComparable = (isNumeric(left) && isNumeric(right)) || (typeof left === 'string' && typeof right === 'string');
  if (!isComparable) return false;
  if (operator === '<') return left < right;
  if (operator === '<=') return left <= right;
  return operator === '>' ? left > right : left >= right;
}

/** Steps, or undefined as soon as something is not understood. */
class Parser {
  #rest: string;

  constructor(text: string) {
    this.#rest = text.startsWith('$') ? text.slice(1) : text;
  }

  steps(): readonly Step[] | undefined {
    const steps: Step[] = [];
    while (this.#rest !== '') {
      const step = this.#step();
      if (step === undefined) return undefined;
      steps.push(...step);
    }
    return steps;
  }

  #step(): readonly Step[] | undefined {
    if (this.#take(/^\.\./)) {
      const name = this.#take(/^(?:\\.|[^.[\]\\])+/)?.[0];
      return name === undefined ? undefined : [descend, name === '*' ? all : field(unescaped(name))];
    }
    if (this.#take(/^\.(?=\[|$)/)) return [];
    const name = this.#take(/^\.?((?:\\.|[^.[\]\\])+)/)?.[1];
    if (name !== undefined) return [name === '*' ? all : field(unescaped(name))];
    if (this.#take(/^\[\?\(\s*/)) return this.#filter();
    return this.#bracket();
  }

  #bracket(): readonly Step[] | undefined {
    if (this.#take(/^\[\*\]/)) return [all];
    const quoted = this.#take(/^\[\s*'((?:\\.|[^'\\])*)'\s*\]/) ?? this.#take(/^\[\s*"((?:\\.|[^"\\])*)"\s*\]/);
    if (quoted) return [field(unescaped(quoted[1] ?? ''))];
    const index = this.#take(/^\[\s*(-?\d+)\s*\]/);
    if (index) return [item(Number(index[1]))];
    const range = this.#take(/^\[(-?\d+)?:(-?\d+)?(?::(\d+))?\]/);
    if (!range) return undefined;
    const [start, end, stride] = range.slice(1).map((text) => (text === undefined ? undefined : Number(text)));
    return [slice(start, end, stride)];
  }

  #filter(): readonly Step[] | undefined {
    const left = this.#operand();
    const operator = this.#take(/^\s*(==|!=|<=|>=|<|>)\s*/)?.[1];
    const right = operator === undefined ? undefined : this.#operand();
    const isWhole = left !== undefined && (operator === undefined || right !== undefined);
    return isWhole && this.#take(/^\s*\)\]/) ? [filter(left, operator, right)] : undefined;
  }

  #operand(): Operand | undefined {
    const path = this.#take(/^@((?:\.(?:\\.|[^\s.[\]\\=!<>()])+|\[[^\]]*\])*)/);
    if (path) return compileJsonPath(path[1] ?? '');
    const text = this.#take(/^'((?:\\.|[^'\\])*)'/) ?? this.#take(/^"((?:\\.|[^"\\])*)"/);
    if (text) return () => [unescaped(text[1] ?? '')];
    const number = this.#take(/^-?\d+(?:\.\d+)?/);
    if (number) return () => [Number(number[0])];
    const word = this.#take(/^(?:true|false)/);
    return word && (() => [word[0] === 'true']);
  }

  #take(pattern: RegExp): RegExpExecArray | undefined {
    const match = pattern.exec(this.#rest);
    if (match === null) return undefined;
    this.#rest = this.#rest.slice(match[0].length);
    return match;
  }
}

const unescaped = (name: string) => name.replaceAll(/\\(.)/g, '$1');
