/** What is wrong with a text that a user wrote, for whoever checks a spec before it is compiled. Undefined: nothing. */
import { parseCondition } from './condition.ts';
import { ExpressionError, parsePath } from './path-syntax.ts';

export const checkCondition = (text: string): string | undefined => objection(() => parseCondition(text));

export const checkPath = (text: string): string | undefined => objection(() => parsePath(text));

function objection(parse: () => unknown): string | undefined {
  try {
    parse();
    return undefined;
  } catch (error) {
    if (error instanceof ExpressionError) return error.message;
    throw error;
  }
}
