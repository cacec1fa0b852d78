/** Transformations that choose among the fields of a message. */
import { Type } from 'typebox';
import { forbid, need, when } from '../finding.ts';
import { missing, withRule } from '../schema.ts';

/** One dialect for all: `a.b`, `$.a.b`, `items.0.sku`, `items[0].sku`. */
export const path = (description: string) => Type.String({ format: 'path', description });

/** Without `#`, `*` and `?`. */
export const singlePath = (description: string) => Type.String({ format: 'single-path', description });

export const paths = (description: string) =>
  Type.Array(Type.String({ format: 'path' }), {
    minItems: 1,
    description,
    ...missing('at least one field is required'),
  });

export const select = Type.Object(
  { fields: paths('The fields to keep; a nested one moves to the top, under the last part of its path.') },
  { description: 'Keeps some fields and drops all others.' },
);

export const remove = Type.Object(
  { fields: paths('The fields to drop.') },
  { description: 'Drops some fields and keeps all others.' },
);

export const mask = Type.Object(
  {
    fields: paths('The fields whose values must not be seen.'),
    maskChar: Type.String({ default: '*', description: 'What is written instead.' }),
    keepLength: Type.Boolean({
      default: false,
      description: 'Once for each character of the value. Otherwise three times, whatever its length.',
    }),
  },
  { description: 'Hides the values of some fields.' },
);

const optionalPaths = (description: string) =>
  Type.Optional(Type.Array(Type.String({ format: 'path' }), { description }));

export const replaceField = withRule(
  Type.Object(
    {
      renames: Type.Optional(
        Type.Array(Type.String({ format: 'rename' }), {
          description: 'New names, each as old:new, both may be paths.',
        }),
      ),
      include: optionalPaths('The only fields to keep, where they are.'),
      exclude: optionalPaths('The fields to drop.'),
    },
    { description: 'Renames fields, and keeps or drops some.' },
  ),
  ({ renames = [], include = [], exclude = [] }) => [
    ...when(
      renames.length + include.length + exclude.length === 0,
      need('', 'at least one of renames, include and exclude is required'),
    ),
    ...when(include.length > 0 && exclude.length > 0, forbid('exclude', 'may not be given beside include')),
  ],
);
