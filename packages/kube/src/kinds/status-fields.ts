import { type TObjectOptions, type TProperties, Type } from 'typebox';
import { listMap } from './fields.ts';

/** A condition within the bounds that Kubernetes sets for its own (`metav1.Condition`). */
export const ConditionSchema = Type.Object(
  {
    type: Type.String({
      maxLength: 316,
      pattern:
        '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$',
    }),
    status: Type.Union([Type.Literal('True'), Type.Literal('False'), Type.Literal('Unknown')]),
    reason: Type.String({ minLength: 1, maxLength: 1024, pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$' }),
    message: Type.String({ maxLength: 32768 }),
    lastTransitionTime: Type.String({ format: 'date-time' }),
    observedGeneration: Type.Optional(Type.Integer({ format: 'int64', minimum: 0 })),
  },
  { description: 'One aspect of the current state.' },
);

/** A status with what every kind reports: conditions, and the generation of the spec that they speak of. */
export function statusOf<P extends TProperties>(properties: P, options: TObjectOptions = {}) {
  return Type.Object(
    {
      ...properties,
      observedGeneration: Type.Optional(
        Type.Integer({
          format: 'int64',
          minimum: 0,
          description: 'The generation of the spec that this status is about.',
        }),
      ),
      conditions: Type.Optional(listMap(ConditionSchema, ['type'], { maxItems: 32 })),
    },
    options,
  );
}
