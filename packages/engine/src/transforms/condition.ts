/**
 * What filter and router ask of a message:
 *
 *     $.active                                     it exists and is neither false, 0, "", "false" nor null
 *     $.level == 'error'     level != error        its text equals (not) what stands there, quoted or bare
 *     a && (b == 1 || !c)
 *
 * A missing field fails all three questions; only `!` turns that around. Compiled to closures that look at each named field
 * once: there is no pattern and no loop in it, so the time is that of finding the fields.
 */
import { isNumber, isZero, type Json, spellingOf, textOf } from '../json/index.ts';
import { Path } from './path.ts';
import { ExpressionError } from './path-syntax.ts';

/** Undefined, a payload that is no JSON, has no fields. */
export type Condition = (document: Json | undefined) => boolean;

const MAX_DEPTH = 50;
const SPACE = /\s/;
const ENDS_PATH = /[\s=!<>&|()'"]/;
const ENDS_BARE_LITERAL = /[\s()&|]/;

export const parseCondition = (text: string): Condition => new ConditionReader(text).read();

export function isTruthy(value: Json | undefined): boolean {
  if (value === undefined || value === null) return false;
  if (typeof value === 'boolean') return value;
  if (typeof value === 'string') return value !== '' && value !== 'false';
  return isNumber(value) ? !isZero(spellingOf(value)) : true;
}

class ConditionReader {
  readonly #text: string;
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(): Condition {
    const condition = this.#readOr();
    if (this.#at < this.#text.length) throw this.#error("here '&&', '||' or the end was expected");
    return condition;
  }

  #readOr(): Condition {
    const alternatives = [this.#readAnd()];
    while (this.#accept('||')) alternatives.push(this.#readAnd());
    const [only] = alternatives;
    if (alternatives.length === 1 && only !== undefined) return only;
    return (document) => alternatives.some((condition) => condition(document));
  }

  #readAnd(): Condition {
    const demands = [this.#readOne()];
    while (this.#accept('&&')) demands.push(this.#readOne());
    const [only] = demands;
    if (demands.length === 1 && only !== undefined) return only;
    return (document) => demands.every((condition) => condition(document));
  }

  #readOne(): Condition {
    if (this.#accept('!')) return this.#nested(() => negate(this.#readOne()));
    if (this.#accept('(')) {
      const open = this.#at - 1;
      const inner = this.#nested(() => this.#readOr());
      if (!this.#accept(')')) throw this.#error("this '(' is never closed", open);
      return inner;
    }
    return this.#readComparison();
  }

  #nested(read: () => Condition): Condition {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) throw this.#error(`nested deeper than ${MAX_DEPTH} levels`);
    const condition = read();
    this.#depth -= 1;
    return condition;
  }

  #readComparison(): Condition {
    const path = this.#readPath();
    if (this.#accept('==')) {
      const expected = this.#readLiteral();
      return (document) => compares(path.get(document), (text) => text === expected);
    }
    if (this.#accept('!=')) {
      const unwanted = this.#readLiteral();
      return (document) => compares(path.get(document), (text) => text !== unwanted);
    }
    const next = this.#text[this.#at];
    if (next === '=') throw this.#error("to compare write '==' or '!='");
    if (next === '<' || next === '>') throw this.#error(`'${next}' is not supported; compare with '==' or '!='`);
    return (document) => isTruthy(path.get(document));
  }

  #readPath(): Path {
    this.#skipSpace();
    const start = this.#at;
    while (this.#at < this.#text.length && !ENDS_PATH.test(this.#text[this.#at] ?? '')) {
      this.#at += this.#text[this.#at] === '\\' ? 2 : 1;
    }
    if (this.#at === start) throw this.#error("here a field was expected, like '$.status'");
    if (this.#text.startsWith('#(', this.#at - 1))
      throw this.#error("queries like '#(…)' are not supported", this.#at - 1);
    try {
      const path = new Path(this.#text.slice(start, this.#at));
      this.#skipSpace();
      return path;
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      throw this.#error(error.because, start + error.position - 1);
    }
  }

  #readLiteral(): string {
    this.#skipSpace();
    const quote = this.#text[this.#at];
    if (quote === "'" || quote === '"') return this.#readQuoted(quote);
    const start = this.#at;
    while (this.#at < this.#text.length && !ENDS_BARE_LITERAL.test(this.#text[this.#at] ?? '')) this.#at += 1;
    if (this.#at === start) throw this.#error("here a value was expected, like 'active' or 5");
    const literal = this.#text.slice(start, this.#at);
    this.#skipSpace();
    return literal;
  }

  /** `\` escapes the quote and itself; before anything else it is just that. */
  #readQuoted(quote: string): string {
    const open = this.#at;
    let literal = '';
    for (this.#at += 1; this.#at < this.#text.length; this.#at += 1) {
      const char = this.#text[this.#at] ?? '';
      if (char === quote) {
        this.#at += 1;
        this.#skipSpace();
        return literal;
      }
      const next = this.#text[this.#at + 1] ?? '';
      const isEscape = char === '\\' && (next === quote || next === '\\');
      if (isEscape) this.#at += 1;
      literal += isEscape ? next : char;
    }
    throw this.#error(`this ${quote} is never closed`, open);
  }

  #accept(token: string): boolean {
    this.#skipSpace();
    if (!this.#text.startsWith(token, this.#at)) return false;
    this.#at += token.length;
    this.#skipSpace();
    return true;
  }

  #skipSpace(): void {
    while (SPACE.test(this.#text[this.#at] ?? '')) this.#at += 1;
  }

  #error(because: string, at = this.#at): ExpressionError {
    return new ExpressionError(this.#text, at, because);
  }
}

const negate =
  (condition: Condition): Condition =>
  (document) =>
    !condition(document);

const compares = (value: Json | undefined, accepts: (text: string) => boolean): boolean =>
  value !== undefined && accepts(textOf(value));
