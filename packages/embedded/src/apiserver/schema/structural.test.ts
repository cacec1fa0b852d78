import { describe, expect, it } from 'vitest';
import { validateCrdSchema } from './crd-schema.ts';
import { answerOf, type Recorded, recording } from './recorded-answers.ts';
import type { JsonSchema } from './schema.ts';

interface Case extends Recorded {
  readonly schema: JsonSchema;
}

const cases: readonly Case[] = JSON.parse(recording('structural.json'));

describe('the schema of a definition is judged as by the real server', () => {
  it.each(cases)('$name', ({ schema, answer }) => {
    expect(answerOf(validateCrdSchema(schema, 'spec.validation.openAPIV3Schema', false))).toEqual(answer);
  });
});
