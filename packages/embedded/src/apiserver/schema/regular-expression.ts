import { RE2JS } from '@bufbuild/re2';

/**
 * Patterns are RE2, as on the real server: JavaScript's own would accept look-arounds that a real cluster refuses and can
 * be driven into exponential time by the data. Compiling costs far more than matching, hence the memory of recent ones.
 */
const recent = new Map<string, RE2JS>();
const MOST = 1_000;

export function regularExpression(pattern: string): RE2JS {
  const known = recent.get(pattern);
  if (known !== undefined) return known;
  const compiled = RE2JS.compile(pattern);
  if (recent.size >= MOST) recent.clear();
  recent.set(pattern, compiled);
  return compiled;
}

/** What is wrong with a pattern, in the words of the real server; undefined when it compiles. */
export function patternError(pattern: string): string | undefined {
  try {
    regularExpression(pattern);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
