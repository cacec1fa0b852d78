import { choiceOf, extrasOf, type Fields, isFields, isGiven, valueOf, wordOf } from './given.ts';
import type { Block, Schema } from './schema.ts';

/**
 * A value in its one shape, with the defaults: blocks as envelopes, words in their one spelling, no references to Secrets.
 * What does not fit its declaration is left out, so that the result has the declared types whatever came in; undefined if
 * nothing is left.
 */
export function fill(schema: Schema, value: unknown): unknown {
  const { 'x-polder-block': block } = schema;
  if (block) return isFields(value) ? fillBlock(block, value) : undefined;
  if (schema.enum) return wordOf(schema, value);
  if (schema['x-kubernetes-int-or-string']) return isText(value) || Number.isInteger(value) ? value : undefined;
  switch (schema.type) {
    case 'object':
      return isFields(value) ? fillObject(schema, value) : undefined;
    case 'array': {
      const { items = {} } = schema;
      return Array.isArray(value) ? value.map((item) => fill(items, item)).filter(isThere) : undefined;
    }
    case 'string':
      return isText(value) ? value : undefined;
    case 'integer':
      return Number.isInteger(value) ? value : undefined;
    case 'boolean':
      return typeof value === 'boolean' ? value : undefined;
    case undefined:
      return value;
  }
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isThere = (value: unknown) => value !== undefined;

function fillObject(schema: Schema, value: Fields): Fields {
  const { properties, additionalProperties } = schema;
  if (properties) return fillProperties(properties, value);
  if (!additionalProperties) return value;
  const entries = Object.entries(value).map(([key, entry]) => [key, fill(additionalProperties, entry)] as const);
  return Object.fromEntries(entries.filter(([, entry]) => isThere(entry)));
}

function fillProperties(properties: Readonly<Record<string, Schema>>, value: Fields): Fields {
  const entries = Object.entries(properties).map(([name, property]) => {
    const given = valueOf(value, name);
    return [name, (isGiven(given) ? fill(property, given) : undefined) ?? structuredClone(property.default)] as const;
  });
  return Object.fromEntries(entries.filter(([, entry]) => isThere(entry)));
}

function fillBlock(block: Block, value: Fields): Fields | undefined {
  const choice = choiceOf(block, value);
  if (choice === undefined) return undefined;
  const config = fillObject(choice.schema, isFields(choice.config) ? choice.config : {});
  return { type: choice.type, ...fillProperties(extrasOf(block), value), config };
}
