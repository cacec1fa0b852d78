import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withDefaults } from './defaults.ts';
import { prune, strictDecodingMessage, unknownFieldMessage } from './prune.ts';
import { type Json, type JsonSchema, Schema } from './schema.ts';
import { validate } from './validate.ts';

interface Case {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly value: Json;
  readonly result: Json;
  /** What strict decoding said of it; empty when nothing. */
  readonly strict: string;
}
const cases: readonly Case[] = JSON.parse(
  readFileSync(new URL('testdata/prune-and-default.json', import.meta.url), 'utf8'),
);

const around = (schema: JsonSchema) =>
  new Schema({ type: 'object', properties: { spec: { type: 'object', properties: { x: schema } } } });

describe('an object is stored as the real server would store it', () => {
  it.each(cases)('$name', ({ schema, value, result, strict }) => {
    const root = around(schema);
    const { value: pruned, unknown } = prune(root, { spec: { x: value } });
    expect(withDefaults(root, pruned)).toEqual({ spec: { x: result } });
    expect(unknown.length === 0 ? '' : strictDecodingMessage(unknown.map(unknownFieldMessage))).toBe(strict);
  });

  it('names unknown fields of metadata before all others', () => {
    const schema = new Schema({ type: 'object', properties: { metadata: { type: 'object', properties: {} } } });
    expect(prune(schema, { bogus: 1, metadata: { bogus: 1 } }).unknown).toEqual(['metadata.bogus', 'bogus']);
  });

  it('leaves its arguments alone and shares what did not change', () => {
    const schema = around({ type: 'object', properties: { a: { type: 'string', default: 'd' } } });
    const object = Object.freeze({ spec: Object.freeze({ x: Object.freeze({ a: 'x' }) }) });
    expect(prune(schema, object).value).toBe(object);
    expect(withDefaults(schema, object)).toBe(object);
  });

  it('takes zero values in generated documents for no default', () => {
    const pod: JsonSchema = {
      type: 'object',
      properties: { a: { type: 'string', default: '' }, b: { type: 'string', default: 'TCP' } },
    };
    const schema = new Schema({ $ref: '#/components/schemas/Pod' }, new Map([['Pod', pod]]));
    expect(withDefaults(schema, {})).toEqual({ b: 'TCP' });
  });

  it('keeps everything inside a generated type without structure', () => {
    const schema = new Schema(
      { type: 'object', properties: { raw: { $ref: '#/components/schemas/RawExtension' } } },
      new Map([['RawExtension', { type: 'object' }]]),
    );
    const object = { raw: { anything: [{ goes: 1 }] } };
    expect(prune(schema, object)).toEqual({ value: object, unknown: [] });
  });
});

const names = fc.constantFrom('a', 'b', 'c', '__proto__');

/** Schemas with a value that they accept: property tests need both to say anything. */
const scalar: fc.Arbitrary<{ schema: JsonSchema; value: Json }> = fc.oneof(
  fc.record({ schema: fc.constant<JsonSchema>({ type: 'string', default: 'd' }), value: fc.string() }),
  fc.record({ schema: fc.constant<JsonSchema>({ type: 'integer' }), value: fc.integer() }),
  fc.record({ schema: fc.constant<JsonSchema>({ type: 'boolean', default: true }), value: fc.boolean() }),
);

const { tree } = fc.letrec<{ tree: { schema: JsonSchema; value: Json } }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4 },
    scalar,
    tie('tree').map(({ schema, value }) => ({ schema: { type: 'array', items: schema }, value: [value] })),
    tie('tree').map(({ schema, value }) => ({
      schema: { type: 'object', additionalProperties: schema },
      value: { key: value },
    })),
    fc.uniqueArray(fc.tuple(names, tie('tree')), { selector: ([name]) => name, maxLength: 3 }).map((members) => ({
      schema: {
        type: 'object',
        properties: Object.fromEntries(members.map(([name, { schema }]) => [name, schema])),
      },
      value: Object.fromEntries(members.map(([name, { value }]) => [name, value])),
    })),
  ),
}));

/** The same, spoilt here and there with what the schema does not know. */
const json: fc.Arbitrary<Json> = fc.jsonValue().map((value): Json => JSON.parse(JSON.stringify(value)));

describe('pruning and defaulting', () => {
  it('change nothing the second time', () => {
    fc.assert(
      fc.property(tree, json, ({ schema: node }, value) => {
        const schema = new Schema(node);
        const pruned = prune(schema, value).value;
        expect(prune(schema, pruned)).toEqual({ value: pruned, unknown: [] });
        const filled = withDefaults(schema, pruned);
        expect(withDefaults(schema, filled)).toEqual(filled);
      }),
    );
  });

  it('keep a valid value valid', () => {
    fc.assert(
      fc.property(tree, ({ schema: node, value }) => {
        const schema = new Schema(node);
        expect(validate(schema, value)).toEqual([]);
        expect(validate(schema, withDefaults(schema, prune(schema, value).value))).toEqual([]);
      }),
    );
  });
});
