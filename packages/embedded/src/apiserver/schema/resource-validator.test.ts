import { describe, expect, it } from 'vitest';
import { messageOf } from '../status.ts';
import { answerOf, type Recorded, recording } from './recorded-answers.ts';
import { ResourceValidator } from './resource-validator.ts';
import { type JsonSchema, Schema } from './schema.ts';

interface Case extends Recorded {
  readonly schema: JsonSchema;
  readonly value: unknown;
  readonly old?: unknown;
  /** As headers carry them. */
  readonly warnings?: readonly string[];
}

const cases: readonly Case[] = JSON.parse(recording('rules.json'));

describe('rules and ratcheting answer as the real server', () => {
  it.each(cases)('$name', ({ schema, value, old, answer, warnings = [] }) => {
    const spec: JsonSchema = { type: 'object', properties: { x: schema } };
    // Another rule somewhere makes the server say that rules were not checked, as in the recorded CRD.
    const rule = { type: 'string', 'x-kubernetes-validations': [{ rule: 'true' }] };
    const root = new Schema({ type: 'object', properties: { spec, rule } });
    const object = { spec: { x: value } };
    const verdict = new ResourceValidator(root).validate(object, old === undefined ? undefined : { spec: { x: old } });
    expect(answerOf(verdict.errors)).toEqual(answer);
    const headers = verdict.warnings.map((warning) => `299 - "${warning.field}: ${messageOf(warning)}"`);
    expect(headers).toEqual(warnings);
  });
});

it('does not follow built-in types into themselves', () => {
  const props: JsonSchema = {
    type: 'object',
    properties: { allOf: { type: 'array', items: { $ref: '#/components/schemas/Props' } } },
  };
  const schema = new Schema({ $ref: '#/components/schemas/Props' }, new Map([['Props', props]]));
  expect(new ResourceValidator(schema).validate({ allOf: [{ allOf: [] }] })).toEqual({ errors: [], warnings: [] });
});
