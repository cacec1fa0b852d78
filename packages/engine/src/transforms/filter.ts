import { parseCondition } from './condition.ts';
import { orConfigError } from './path.ts';
import type { Transform } from './transform.ts';

export interface FilterConfig {
  readonly condition: string;
}

/** Drops what does not meet the condition, what is no JSON included: it has none of the fields. */
export function filter({ condition }: FilterConfig): Transform {
  const isMet = orConfigError('condition', () => parseCondition(condition));
  return (message) => (isMet(message.payload?.json) ? [message] : []);
}
