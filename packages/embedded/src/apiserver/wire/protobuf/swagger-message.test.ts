import { expect, test } from 'vitest';
import { BUILTIN_KINDS } from '../../builtin/index.ts';
import { type Swagger, swagger } from '../../openapi/index.ts';
import type { JsonSchema } from '../../schema/index.ts';
import { fieldsIn } from './reader.ts';
import { swaggerMessage } from './swagger-message.ts';

type Wire = bigint | Uint8Array;
type Read = (wire: Wire) => unknown;

const bytes = (wire: Wire) => (typeof wire === 'bigint' ? new Uint8Array() : wire);
const text: Read = (wire) => Buffer.from(bytes(wire)).toString();
const bool: Read = (wire) => wire === 1n;
const int: Read = Number;
const double: Read = (wire) => Buffer.from(bytes(wire)).readDoubleLE();
const fields = (wire: Wire) => [...fieldsIn(bytes(wire))];

/** The name of each field and how it is read; `[]` after the name of those that repeat. A field without a name is a case. */
type Table = Readonly<Record<number, readonly [name: string, read: Read]>>;

function message(table: () => Table, extensions?: number): Read {
  return (wire) => {
    const object: Record<string, unknown> = {};
    for (const { number, value } of fields(wire)) {
      const [name, read] = number === extensions ? ['', named(any)] : (table()[number] ?? [`unknown ${number}`, text]);
      const list = object[name.slice(0, -2)];
      if (name === '') Object.assign(object, read(value));
      else if (!name.endsWith('[]')) object[name] = read(value);
      else object[name.slice(0, -2)] = [...(Array.isArray(list) ? list : []), read(value)];
    }
    return object;
  };
}

const named =
  (value: Read): Read =>
  (wire) => {
    const [name, content] = fields(wire);
    return { [String(text(name?.value ?? 0n))]: value(content?.value ?? 0n) };
  };

/** A message whose one field has one of these numbers. */
const oneOf =
  (cases: () => Readonly<Record<number, Read>>): Read =>
  (wire) => {
    const [only] = fields(wire);
    return cases()[only?.number ?? 0]?.(only?.value ?? 0n);
  };

const map = (value: Read, number = 1) => message(() => ({ [number]: ['', named(value)] }));

const any: Read = oneOf(() => ({ 2: (wire) => JSON.parse(String(text(wire))) }));

const schema: Read = message(
  () => ({
    1: ['$ref', text],
    2: ['format', text],
    3: ['title', text],
    4: ['description', text],
    6: ['multipleOf', double],
    7: ['maximum', double],
    8: ['exclusiveMaximum', bool],
    9: ['minimum', double],
    10: ['exclusiveMinimum', bool],
    11: ['maxLength', int],
    12: ['minLength', int],
    13: ['pattern', text],
    14: ['maxItems', int],
    15: ['minItems', int],
    16: ['uniqueItems', bool],
    17: ['maxProperties', int],
    18: ['minProperties', int],
    19: ['required[]', text],
    20: ['enum[]', any],
    21: ['additionalProperties', oneOf(() => ({ 1: schema, 2: bool }))],
    22: ['type', oneOf(() => ({ 1: text }))],
    23: ['items', oneOf(() => ({ 1: schema }))],
    25: ['properties', map(schema)],
    30: ['example', any],
  }),
  31,
);

const query = message(() => ({ 1: ['required', bool], 2: ['in', text], 4: ['name', text], 6: ['type', text] }));
const path = message(() => ({ 1: ['required', bool], 2: ['in', text], 4: ['name', text], 5: ['type', text] }));
const body = message(() => ({ 2: ['name', text], 3: ['in', text], 5: ['schema', schema] }));
const parameter = oneOf(() => ({ 1: oneOf(() => ({ 1: body, 2: oneOf(() => ({ 3: query, 4: path })) })) }));
const response = message(() => ({ 1: ['description', text], 2: ['schema', oneOf(() => ({ 1: schema }))] }));
const operation = message(
  () => ({
    5: ['operationId', text],
    7: ['consumes[]', text],
    8: ['parameters[]', parameter],
    9: ['responses', map(oneOf(() => ({ 1: response })))],
  }),
  13,
);
const pathItem = message(() => ({
  2: ['get', operation],
  3: ['put', operation],
  4: ['post', operation],
  5: ['delete', operation],
  8: ['patch', operation],
  9: ['parameters[]', parameter],
}));
const document = message(() => ({
  1: ['swagger', text],
  2: ['info', message(() => ({ 1: ['title', text], 2: ['version', text] }))],
  8: ['paths', map(pathItem, 2)],
  9: ['definitions', map(schema)],
}));

/** An empty list is not on the wire. */
const withoutEmptyLists = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_, one: unknown) => (Array.isArray(one) && one.length === 0 ? undefined : one)));

test('the message says what the JSON says', () => {
  const served = swagger(BUILTIN_KINDS);
  expect(document(swaggerMessage(served))).toEqual(withoutEmptyLists(served));
});

test('every word of a schema is in it', () => {
  const widget: JsonSchema = {
    title: 'Widget',
    type: 'object',
    minProperties: 1,
    maxProperties: 2 ** 40,
    properties: {
      size: { type: 'number', minimum: -0.5, maximum: 1e9, exclusiveMinimum: true, exclusiveMaximum: false },
      steps: { type: 'integer', format: 'int64', multipleOf: 5, enum: [5, '10', null], example: { of: ['10'] } },
      name: { type: 'string', minLength: 1, maxLength: 300, pattern: '^ä+$' },
      tags: { type: 'array', minItems: 1, maxItems: 2, uniqueItems: true, items: { type: 'string' } },
      closed: { type: 'object', additionalProperties: false },
      open: { additionalProperties: { $ref: '#/definitions/Widget' }, 'x-kubernetes-preserve-unknown-fields': true },
    },
  };
  const info = { title: 'Test', version: 'v1' };
  const served: Swagger = { swagger: '2.0', info, paths: {}, definitions: { Widget: widget } };
  expect(document(swaggerMessage(served))).toEqual(served);
});
