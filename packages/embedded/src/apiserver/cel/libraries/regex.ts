import type { Environment } from '@marcbachmann/cel-js';
import { regularExpression } from '../../schema/regular-expression.ts';

const POSIX: Readonly<Record<string, string>> = {
  alnum: 'A-Za-z0-9',
  alpha: 'A-Za-z',
  digit: '0-9',
  lower: 'a-z',
  upper: 'A-Z',
  space: '\\s',
  word: '\\w',
  xdigit: '0-9A-Fa-f',
  punct: '!-\\/:-@\\[-`{-~',
};

/**
 * Our RE2 answers whether, not where. A pattern that RE2 accepts has no look-arounds and no back-references, so it can be
 * searched with JavaScript's engine once RE2's own spellings are translated.
 */
function searching(pattern: string): RegExp {
  regularExpression(pattern);
  const [, flags = '', rest = pattern] = /^\(\?([ims]+)\)([^]*)$/.exec(pattern) ?? [];
  const translated = rest
    .replaceAll('(?P<', '(?<')
    .replaceAll(/\[:(\w+):\]/g, (text, name: string) => POSIX[name] ?? text)
    .replaceAll('\\z', '$')
    .replaceAll('\\A', '^');
  return new RegExp(translated, `g${flags}`);
}

const findAll = (text: string, pattern: string): string[] => text.match(searching(pattern)) ?? [];

export function registerRegex(env: Environment): void {
  env.registerFunction(
    'string.find(string): string',
    (text: string, pattern: string) => findAll(text, pattern)[0] ?? '',
  );
  env.registerFunction('string.findAll(string): list<string>', findAll);
  env.registerFunction('string.findAll(string, int): list<string>', (text: string, pattern: string, most: bigint) => {
    const found = findAll(text, pattern);
    return most < 0n ? found : found.slice(0, Number(most));
  });
}
