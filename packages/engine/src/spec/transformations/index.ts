import { type Block, block, type Chosen, type Immutable } from '../schema.ts';
import { mask, remove, replaceField, select } from './fields.ts';
import { filter, router } from './routing.ts';
import { camelCase, debeziumUnwrap, extractField, flatten, hoistField, snakeCase, structFlatten } from './structure.ts';
import { cast, headersToPayload, insertField, timestamp, timezone } from './values.ts';

/** In the order in which messages name them. */
const transformations = {
  timestamp,
  flatten,
  filter,
  mask,
  router,
  select,
  remove,
  snakeCase,
  camelCase,
  debeziumUnwrap,
  replaceField,
  headersToPayload,
  structFlatten,
  extractField,
  hoistField,
  cast,
  timezone,
  insertField,
} as const;

type AnyTransformation = Chosen<typeof transformations>;

const transformationBlock: Block = { noun: 'transformation', variants: transformations, fields: {} };

export const transformation = block<AnyTransformation>(transformationBlock, {
  description: 'What is done with each message.',
});

export type TransformationSpec = Immutable<AnyTransformation>;
/** The config of one of them: `TransformationConfig<'mask'>`. */
export type TransformationConfig<Type extends TransformationSpec['type']> = Extract<
  TransformationSpec,
  { readonly type: Type }
>['config'];
