/** What scalars mean to conditions, masks, casts and times. Numbers by JavaScript's own, where those are exact enough. */
import { ModelFailure, print, type Tree, text } from './tree.ts';

/** The text of the number; undefined: it is none. */
export const numberIn = (tree: Tree): string | undefined =>
  typeof tree === 'string' && /^[-\d]/.test(tree) ? tree : undefined;

/** Undefined: it is none. */
export function stringIn(tree: Tree): string | undefined {
  if (typeof tree !== 'string' || !tree.startsWith('"')) return undefined;
  const value: string = JSON.parse(tree);
  return value;
}

export function textOf(tree: Tree): string {
  if (tree === 'null') return '';
  const number = numberIn(tree);
  if (number !== undefined) return /[.e]/i.test(number) ? String(Number(number)) : number;
  return stringIn(tree) ?? print(tree);
}

export const isTruthy = (tree: Tree | undefined): boolean =>
  tree !== undefined && !['null', 'false', '""', '"false"'].includes(print(tree)) && Number(numberIn(tree) ?? 1) !== 0;

const NUMERIC = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** The number that it is or spells, as JSON spells it. */
function numeral(tree: Tree): string {
  const given = numberIn(tree) ?? stringIn(tree);
  if (given === undefined || !NUMERIC.test(given)) throw new ModelFailure();
  return given
    .replace(/^\+/, '')
    .replace(/^(-?)\./, '$10.')
    .replace(/^(-?)0+(?=\d)/, '$1');
}

export type Type = 'string' | 'int64' | 'float64' | 'bool' | 'null';

export function cast(tree: Tree, type: Type): Tree {
  switch (type) {
    case 'null':
      return 'null';
    case 'string':
      if (typeof tree !== 'string' || tree === 'null') throw new ModelFailure();
      return text(stringIn(tree) ?? tree);
    case 'float64':
      return numeral(tree);
    case 'int64':
      return integer(numeral(tree));
    case 'bool':
      return boolean(numberIn(tree) ?? stringIn(tree)?.toLowerCase() ?? print(tree), numberIn(tree) !== undefined);
  }
}

function integer(number: string): Tree {
  const isWhole = /^-?\d+$/.test(number);
  if (isWhole && BigInt.asIntN(64, BigInt(number)) === BigInt(number)) return number;
  if (!isWhole && Number.isInteger(Number(number))) return String(Number(number));
  throw new ModelFailure();
}

function boolean(given: string, isNumber: boolean): Tree {
  if (isNumber ? Number(given) === 1 : given === 'true') return 'true';
  if (isNumber ? Number(given) === 0 : given === 'false') return 'false';
  throw new ModelFailure();
}

const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?$/;
const EPOCH = /^-?\d{1,15}(\.\d+)?(e\+?\d{1,2})?$/i;
const TWO_HOURS = 7_200_000;

/** Two hours east of UTC. */
export function inPlusTwo(tree: Tree): Tree {
  if (tree === 'null') return tree;
  const given = numberIn(tree) ?? stringIn(tree) ?? '';
  const ms = RFC3339.test(given) ? Date.parse(/Z|[+-]..:..$/.test(given) ? given : `${given}Z`) : epochMs(given);
  const local = new Date(ms + TWO_HOURS).toISOString();
  return text(`${local.slice(0, 19)}${local.slice(19, -1).replace(/\.?0*$/, '')}+02:00`);
}

function epochMs(given: string): number {
  if (!EPOCH.test(given)) throw new ModelFailure();
  const number = Number(given);
  return Math.abs(number) >= 1e12 ? number : number * 1000;
}
