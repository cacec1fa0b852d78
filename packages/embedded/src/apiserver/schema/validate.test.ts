import { describe, expect, it } from 'vitest';
import { validateEmbeddedResources } from './embedded-resources.ts';
import { validateListTypes } from './list-types.ts';
import { answerOf, type Recorded, recording } from './recorded-answers.ts';
import { type JsonSchema, Schema } from './schema.ts';
import { validate } from './validate.ts';

interface Case extends Recorded {
  readonly schema: JsonSchema;
  readonly value: unknown;
}

const cases: readonly Case[] = JSON.parse(recording('validate.json'));

describe('a value is refused in the words of the real server', () => {
  it.each(cases)('$name', ({ schema, value, answer }) => {
    const root = new Schema({ type: 'object', properties: { spec: { type: 'object', properties: { x: schema } } } });
    const object = { spec: { x: value } };
    const errors = [
      ...validate(root, object),
      ...validateEmbeddedResources(root, object),
      ...validateListTypes(root, object),
    ];
    expect(answerOf(errors)).toEqual(answer);
  });
});
