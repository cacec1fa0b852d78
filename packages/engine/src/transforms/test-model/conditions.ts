import fc from 'fast-check';
import { anyPath } from './paths.ts';
import { get, pathText, type Tree } from './tree.ts';
import { isTruthy, textOf } from './values.ts';

/** A condition as a user writes it, and whether a document meets it. */
export interface Asked {
  readonly condition: string;
  readonly isMet: (tree: Tree | undefined) => boolean;
}

const LITERALS = ['x', '1000', '0.1', '', '9007199254740993', 'false', '***', '[]', 'a b'];

const comparison = fc
  .tuple(anyPath, fc.constantFrom('', '==', '!='), fc.constantFrom(...LITERALS), fc.boolean())
  .map(([path, operator, literal, isBare]): Asked => {
    if (operator === '') return { condition: pathText(path), isMet: (tree) => isTruthy(get(tree, path)) };
    const written = isBare && /^[^ ]+$/.test(literal) ? literal : `'${literal}'`;
    return {
      condition: `${pathText(path)} ${operator} ${written}`,
      isMet: (tree) => {
        const value = get(tree, path);
        return value !== undefined && (textOf(value) === literal) === (operator === '==');
      },
    };
  });

const both = (one: Asked, word: string, other: Asked, isMet: Asked['isMet']): Asked => ({
  condition: `(${one.condition}) ${word} (${other.condition})`,
  isMet,
});

export const asked: fc.Arbitrary<Asked> = fc.letrec<{ asked: Asked }>((tie) => ({
  asked: fc.oneof(
    { maxDepth: 2, withCrossShrink: true },
    { weight: 5, arbitrary: comparison },
    {
      weight: 1,
      arbitrary: tie('asked').map(
        (one): Asked => ({ condition: `!(${one.condition})`, isMet: (tree) => !one.isMet(tree) }),
      ),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(tie('asked'), tie('asked'))
        .map(([one, other]) => both(one, '&&', other, (tree) => one.isMet(tree) && other.isMet(tree))),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(tie('asked'), tie('asked'))
        .map(([one, other]) => both(one, '||', other, (tree) => one.isMet(tree) || other.isMet(tree))),
    },
  ),
})).asked;
