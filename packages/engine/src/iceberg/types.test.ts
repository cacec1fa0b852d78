import { expect, test } from 'vitest';
import { Answer } from './answer.ts';
import { schemaJson, schemaOf } from './types.ts';

const field = (id: number, name: string, type: unknown, required = false) => ({ id, name, required, type });

test('a schema comes out as it went in, whatever is nested in it', () => {
  const names = [
    'boolean',
    'int',
    'long',
    'float',
    'double',
    'date',
    'time',
    'timestamp',
    'timestamptz',
    'timestamp_ns',
  ];
  const others = ['timestamptz_ns', 'string', 'uuid', 'binary', 'fixed[16]', 'decimal(38, 18)'];
  const primitives = [...names, ...others].map((type, at) => field(at + 1, `c${at}`, type, at % 2 === 0));
  const struct = { type: 'struct', fields: [field(30, 'inner', 'long', true)] };
  const list = { type: 'list', 'element-id': 40, 'element-required': true, element: struct };
  const map = { type: 'map', 'key-id': 50, key: 'string', 'value-id': 51, 'value-required': false, value: list };
  const schema = { type: 'struct', 'schema-id': 7, fields: [...primitives, field(60, 'map', map)] };
  expect(schemaJson(schemaOf(Answer.parse(JSON.stringify(schema), 'the schema')))).toEqual(schema);
});

test('a type that is not known, and a schema that is none, are named', () => {
  const schema = (type: unknown) => JSON.stringify({ 'schema-id': 0, fields: [field(1, 'a', type)] });
  const read = (text: string) => () => schemaOf(Answer.parse(text, 'the schema'));
  expect(read(schema('variant'))).toThrow("columns of the type variant can't be used");
  expect(read(schema({ type: 'union' }))).toThrow("columns of the type union can't be used");
  expect(read('{"schema-id":0,"fields":[{"id":1,"name":3}]}')).toThrow('the schema: fields[0]: name is not a text');
  expect(read('<html>')).toThrow('the schema is no JSON');
});
