import { describe, expect, it } from 'vitest';
import { answerOf, type Recorded, recorded } from './recorded-answers.ts';
import { ResourceValidator } from './resource-validator.ts';
import { type JsonSchema, Schema } from './schema.ts';

interface Case extends Recorded {
  readonly schema: JsonSchema;
  readonly value: unknown;
  readonly old?: unknown;
}

describe('rules and ratcheting answer as the real server', () => {
  it.each(recorded<Case>('rules.json'))('$name', ({ schema, value, old, answer }) => {
    const spec: JsonSchema = { type: 'object', properties: { x: schema } };
    // Another rule somewhere makes the server say that rules were not checked, as in the recorded CRD.
    const rule = { type: 'string', 'x-kubernetes-validations': [{ rule: 'true' }] };
    const root = new Schema({ type: 'object', properties: { spec, rule } });
    const object = { spec: { x: value } };
    const { errors } = new ResourceValidator(root).validate(
      object,
      old === undefined ? undefined : { spec: { x: old } },
    );
    expect(answerOf(errors)).toEqual(answer);
  });
});
