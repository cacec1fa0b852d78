import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Schema } from '../schema/schema.ts';
import { compileRules } from './rules.ts';

/** Recorded from kube-apiserver v1.36: whether the rule held on `SELF`, or why it was refused. */
const expressions: readonly { expression: string; result: boolean | string }[] = JSON.parse(
  readFileSync(new URL('testdata/expressions.json', import.meta.url), 'utf8'),
);

const SELF = { s: 'b,a', i: 3, l: [1, 2, 3, 2], ls: ['a', 'b'], d: 1.5 };

describe('an expression gives what the real server gives', () => {
  it.each(expressions)('$expression', ({ expression, result }) => {
    const schema = new Schema({
      type: 'object',
      properties: {
        s: { type: 'string' },
        i: { type: 'integer' },
        l: { type: 'array', items: { type: 'integer' } },
        ls: { type: 'array', items: { type: 'string' } },
        d: { type: 'number' },
      },
      'x-kubernetes-validations': [{ rule: expression }],
    });
    const [rule] = compileRules(schema, false) ?? [];
    expect(rule?.error ?? rule?.evaluate(SELF, undefined)).toEqual(
      typeof result === 'string' ? result : { value: result },
    );
  });
});
