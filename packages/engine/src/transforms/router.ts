import { parseCondition } from './condition.ts';
import { orConfigError } from './path.ts';
import type { Transform } from './transform.ts';

export interface RouterConfig {
  /** Where a route leads to is the pipeline's business; it finds it by the text of the condition. */
  readonly routes: readonly { readonly condition: string }[];
}

/** The metadata by which the pipeline finds the sink. */
export const ROUTED_CONDITION = 'routed_condition';

/** Marks a message with the first condition that it meets, in its own words. */
export function router({ routes }: RouterConfig): Transform {
  const compiled = routes.map(({ condition }, index) => ({
    condition,
    isMet: orConfigError(`routes[${index}].condition`, () => parseCondition(condition)),
  }));
  return (message) => {
    const document = message.payload?.json;
    const route = compiled.find(({ isMet }) => isMet(document));
    if (route === undefined) return [message];
    return [{ ...message, metadata: { ...message.metadata, [ROUTED_CONDITION]: route.condition } }];
  };
}
