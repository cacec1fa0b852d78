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

describe('a write to status', () => {
  const schema = new Schema({
    type: 'object',
    required: ['spec'],
    'x-kubernetes-validations': [
      { rule: '!has(self.status) || !has(self.status.n) || self.status.n < 10', message: 'less than ten' },
    ],
    properties: {
      spec: { type: 'object', properties: { a: { type: 'integer' } } },
      status: {
        type: 'object',
        anyOf: [{ required: ['n'] }, { required: ['phase'] }],
        properties: {
          n: { type: 'integer', minimum: 0 },
          phase: { type: 'string', enum: ['A'] },
          l: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
        },
      },
    },
  });
  const unchecked =
    'FieldValueInvalid <nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';

  it.each([
    [{ n: 1 }, []],
    [
      { n: 'x' },
      [
        unchecked,
        'FieldValueTypeInvalid status.n: Invalid value: "string": n in body must be of type integer: "string"',
      ],
    ],
    [{ n: -1 }, ['FieldValueInvalid status.n: Invalid value: -1: n in body should be greater than or equal to 0']],
    [{ n: 20 }, ['FieldValueInvalid <nil>: Invalid value: less than ten']],
    [{ n: 1, l: ['a', 'a'] }, ['FieldValueDuplicate status.l[1]: Duplicate value: "a"']],
    [
      {},
      [
        unchecked,
        'FieldValueInvalid status: Invalid value: "": "" must validate at least one schema (anyOf)',
        'FieldValueRequired status.n: Required value',
      ],
    ],
  ])('is held to the schema of status: %j', (status, answer) => {
    const { errors } = new ResourceValidator(schema).validateStatus({ spec: { a: 1 }, status }, { spec: { a: 1 } });
    expect(answerOf(errors)).toEqual(answer);
  });

  it('does not answer for a spec that was invalid before', () => {
    const { errors } = new ResourceValidator(schema).validateStatus({ status: { n: 1 } }, {});
    expect(errors).toEqual([]);
  });
});

it('takes a set in another order for the same set', () => {
  const rules = [{ rule: 'self == oldSelf', message: 'immutable' }];
  const set: JsonSchema = { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } };
  const schema = new Schema({ type: 'object', properties: { s: { ...set, 'x-kubernetes-validations': rules } } });
  const validator = new ResourceValidator(schema);
  expect(validator.validate({ s: ['b', 'a'] }, { s: ['a', 'b'] }).errors).toEqual([]);
  expect(validator.validate({ s: ['b', 'a'] }, { s: ['a', 'c'] }).errors).toHaveLength(1);
});

it('does not follow built-in types into themselves', () => {
  const props: JsonSchema = {
    type: 'object',
    properties: { allOf: { type: 'array', items: { $ref: '#/components/schemas/Props' } } },
  };
  const schema = new Schema({ $ref: '#/components/schemas/Props' }, new Map([['Props', props]]));
  expect(new ResourceValidator(schema).validate({ allOf: [{ allOf: [] }] })).toEqual({ errors: [], warnings: [] });
});
