import { asText } from '../object-text.ts';
import type { JsonObject } from '../schema/schema.ts';
import { badRequest } from '../status.ts';

export type LabelSelector = (labels: Readonly<Record<string, string>> | undefined) => boolean;

export const everything: LabelSelector = () => true;

type Operator = 'in' | 'notin' | '=' | '!=' | '>' | '<' | 'exists' | '!';

interface Requirement {
  readonly key: string;
  readonly operator: Operator;
  readonly values: readonly string[];
}

/** `app=web,tier in (a, b),!legacy`: the query syntax of `labelSelector`. Throws a 400 in the real server's words. */
export function parseLabelSelector(text: string): LabelSelector {
  if (text.trim() === '') return everything;
  return matchAll(new Parser(text).requirements());
}

/** The structured form in objects: `{ matchLabels, matchExpressions }`. An empty one selects everything. */
export function structuredLabelSelector(selector: StructuredSelector): LabelSelector {
  const equal = Object.entries(selector.matchLabels ?? {}).map(
    ([key, value]): Requirement => ({ key, operator: '=', values: [value] }),
  );
  const expressions = (selector.matchExpressions ?? []).map(
    ({ key, operator, values = [] }): Requirement => ({ key, operator: STRUCTURED[operator] ?? 'in', values }),
  );
  return matchAll([...equal, ...expressions]);
}

export interface StructuredSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

/** Services and replication controllers select by a plain map of labels. */
export function asStructured(selector: JsonObject): StructuredSelector {
  if ('matchLabels' in selector || 'matchExpressions' in selector) return selector;
  return { matchLabels: Object.fromEntries(Object.entries(selector).map(([key, label]) => [key, asText(label)])) };
}

const STRUCTURED: Readonly<Record<string, Operator>> = {
  In: 'in',
  NotIn: 'notin',
  Exists: 'exists',
  DoesNotExist: '!',
};

/** `a=b,c in (d,e)`: how the structured form is shown in tables and in `status.selector` of a Scale. */
export function printLabelSelector(selector: StructuredSelector): string {
  const equal = Object.entries(selector.matchLabels ?? {}).map(([key, value]) => ({ key, text: `${key}=${value}` }));
  const expressions = (selector.matchExpressions ?? []).map(({ key, operator, values = [] }) => ({
    key,
    text: printExpression(key, operator, values),
  }));
  return [...equal, ...expressions]
    .toSorted((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(({ text }) => text)
    .join(',');
}

function printExpression(key: string, operator: string, values: readonly string[]): string {
  if (operator === 'Exists') return key;
  if (operator === 'DoesNotExist') return `!${key}`;
  return `${key} ${operator === 'In' ? 'in' : 'notin'} (${values.toSorted().join(',')})`;
}

function matchAll(requirements: readonly Requirement[]): LabelSelector {
  return (labels) => requirements.every((requirement) => matches(requirement, labels ?? {}));
}

function matches({ key, operator, values }: Requirement, labels: Readonly<Record<string, string>>): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case '=':
    case 'in':
      return value !== undefined && values.includes(value);
    case '!=':
    case 'notin':
      return value === undefined || !values.includes(value);
    case 'exists':
      return value !== undefined;
    case '!':
      return value === undefined;
    case '>':
      return value !== undefined && isInteger(value) && BigInt(value) > BigInt(values[0] ?? '0');
    case '<':
      return value !== undefined && isInteger(value) && BigInt(value) < BigInt(values[0] ?? '0');
  }
}

const isInteger = (text: string) => /^[+-]?\d+$/.test(text);

const TOKEN = /\s*(==|!=|=|!|>|<|\(|\)|,|[^\s=!<>(),]+)/gy;

class Parser {
  readonly #tokens: string[] = [];
  #at = 0;

  constructor(text: string) {
    TOKEN.lastIndex = 0;
    for (let match = TOKEN.exec(text); match !== null; match = TOKEN.exec(text)) this.#tokens.push(match[1] ?? '');
  }

  requirements(): readonly Requirement[] {
    const requirements = [this.#requirement()];
    while (this.#peek() === ',') {
      this.#next();
      requirements.push(this.#requirement());
    }
    if (this.#peek() !== '') throw fail(`found '${this.#peek()}', expected: ',' or 'end of string'`);
    return requirements;
  }

  #requirement(): Requirement {
    if (this.#peek() === '!') {
      this.#next();
      return { key: this.#identifier(), operator: '!', values: [] };
    }
    const key = this.#identifier();
    const operator = this.#peek();
    switch (operator) {
      case '':
      case ',':
        return { key, operator: 'exists', values: [] };
      case '=':
      case '==':
      case '!=':
        this.#next();
        return { key, operator: operator === '!=' ? '!=' : '=', values: [this.#value()] };
      case '>':
      case '<': {
        this.#next();
        const value = this.#value();
        if (!isInteger(value))
          throw badRequest(
            `values[0][${key}]: Invalid value: ${JSON.stringify(value)}: for 'Gt', 'Lt' operators, the value must be an integer`,
          );
        return { key, operator, values: [value] };
      }
      case 'in':
      case 'notin':
        this.#next();
        return { key, operator, values: this.#set() };
      default:
        throw fail(`found '${operator}', expected: in, notin, =, ==, !=, gt, lt`);
    }
  }

  #identifier(): string {
    const token = this.#next();
    if (token === '' || /^[=!<>(),]/.test(token)) throw fail(`found '${token}', expected: identifier`);
    return token;
  }

  /** A value may be empty: `app=`. */
  #value(): string {
    const token = this.#peek();
    if (token === '' || token === ',') return '';
    return this.#identifier();
  }

  #set(): readonly string[] {
    if (this.#next() !== '(') throw fail(`found '${this.#tokens[this.#at - 1] ?? ''}' expected: '('`);
    const values: string[] = [];
    for (;;) {
      const token = this.#next();
      if (token === ')') return values;
      if (token === ',') {
        if (this.#peek() === ',' || this.#peek() === ')') values.push('');
        continue;
      }
      if (token === '' || /^[=!<>(]/.test(token)) throw fail(`found '${token}', expected: ',', ')' or identifier`);
      values.push(token);
    }
  }

  #peek(): string {
    return this.#tokens[this.#at] ?? '';
  }

  #next(): string {
    return this.#tokens[this.#at++] ?? '';
  }
}

const fail = (why: string) => badRequest(`unable to parse requirement: ${why}`);
