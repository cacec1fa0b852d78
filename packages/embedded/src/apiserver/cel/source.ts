/** The text of an expression in tokens: as much of CEL's grammar as is needed to tell names from strings. */
export interface Token {
  readonly text: string;
  readonly at: number;
  readonly kind: 'name' | 'string' | 'other';
}

const TOKEN =
  /(?<string>(?:[rR][bB]?|[bB][rR]?)?(?:"""[^]*?"""|'''[^]*?'''|(?<=[rR][bB]?|[bB][rR])(?:"[^"\n]*"|'[^'\n]*')|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'))|\/\/[^\n]*|(?<name>[A-Za-z_]\w*)|\s+|./g;

export function tokensOf(source: string): readonly Token[] {
  const tokens: Token[] = [];
  for (const match of source.matchAll(TOKEN)) {
    const [text] = match;
    if (/^(?:\s|\/\/)/.test(text)) continue;
    const kind = match.groups?.string !== undefined ? 'string' : match.groups?.name !== undefined ? 'name' : 'other';
    tokens.push({ text, at: match.index, kind });
  }
  return tokens;
}

/** Whether a variable is used; a field of the same name is none. */
export function mentions(source: string, variable: string): boolean {
  const tokens = tokensOf(source);
  return tokens.some(
    ({ text, kind }, index) => kind === 'name' && text === variable && tokens[index - 1]?.text !== '.',
  );
}

/** Other names for functions, of the same length so that positions in messages stay right. */
export function renameCalls(source: string, names: Readonly<Record<string, string>>): string {
  const tokens = tokensOf(source);
  let result = source;
  for (const [index, { text, at, kind }] of tokens.entries()) {
    const name =
      kind === 'name' && tokens[index + 1]?.text === '(' && Object.hasOwn(names, text) ? names[text] : undefined;
    if (name !== undefined) result = result.slice(0, at) + name + result.slice(at + text.length);
  }
  return result;
}
