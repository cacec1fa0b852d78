/** Transformations that decide where a message goes, if anywhere. */
import { Type } from 'typebox';
import { sink } from '../connectors/index.ts';
import { repeated } from '../finding.ts';
import { missing, withRule } from '../schema.ts';

const condition = (description: string) => Type.String({ format: 'condition', description });

export const filter = Type.Object(
  {
    condition: condition(
      "What the messages to keep have: a path, or a path compared with a value: $.status == 'paid'.",
    ),
  },
  { description: 'Drops messages.' },
);

const route = Type.Object(
  { condition: condition('Which messages take this route.'), sink },
  { description: 'Messages and where they go.' },
);

export const router = withRule(
  Type.Object(
    {
      routes: Type.Array(route, {
        minItems: 1,
        maxItems: 100,
        description: 'Tried in this order; a message takes the first that fits, or goes to the main sink.',
        ...missing('at least one route is required'),
      }),
    },
    { description: 'Sends messages to different sinks.' },
  ),
  ({ routes = [] }) => {
    const seen = new Set<string>();
    return routes.flatMap(({ condition: text }, index) => {
      const isSeen = text !== undefined && seen.has(text.trim());
      if (text !== undefined) seen.add(text.trim());
      return isSeen ? [repeated(`routes[${index}].condition`, 'no message comes here: a route before has it')] : [];
    });
  },
);
