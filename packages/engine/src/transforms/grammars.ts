/** What is wrong with a text that a user wrote, for whoever checks a spec before it is compiled. Undefined: nothing. */
import { parseCondition } from './condition.ts';
import { Path } from './path.ts';
import { ExpressionError, parsePath } from './path-syntax.ts';
import { ConfigError } from './transform.ts';

export const checkCondition = (text: string): string | undefined => objection(() => parseCondition(text));

export const checkPath = (text: string): string | undefined => objection(() => parsePath(text));

/** Of a path that must name one value. */
export const checkSinglePath = (text: string): string | undefined => objection(() => Path.compileSingle('', text));

/** Of a path that a value is written to. */
export const checkTargetPath = (text: string): string | undefined => objection(() => Path.compileTarget('', text));

function objection(parse: () => unknown): string | undefined {
  try {
    parse();
    return undefined;
  } catch (error) {
    if (error instanceof ExpressionError || error instanceof ConfigError) return error.message;
    throw error;
  }
}
