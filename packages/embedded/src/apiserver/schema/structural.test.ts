import { describe, expect, it } from 'vitest';
import { validateCrdSchema } from './crd-schema.ts';
import { answerOf, type Recorded, recorded } from './recorded-answers.ts';
import type { JsonSchema } from './schema.ts';

interface Case extends Recorded {
  readonly schema: JsonSchema;
}

describe('the schema of a definition is judged as by the real server', () => {
  it.each(recorded<Case>('structural.json'))('$name', ({ schema, answer }) => {
    expect(answerOf(validateCrdSchema(schema, 'spec.validation.openAPIV3Schema', false))).toEqual(answer);
  });
});
