import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { crdOf, SchemaError, withRules, withUnknownFields } from './index.ts';
import { kindWith, Pipeline } from './testdata/kinds.ts';

const root = crdOf(Pipeline).spec.versions[0]?.schema?.openAPIV3Schema;
const spec = root?.properties?.['spec']?.properties ?? {};

const schemaOf = (field: object) => {
  const crd = crdOf(kindWith(Type.Object({ field })));
  return crd.spec.versions[0]?.schema?.openAPIV3Schema?.properties?.['spec']?.properties?.['field'];
};
const object = (type: string, value: object) => Type.Object({ type: Type.Literal(type), value });

describe('a field becomes what a structural schema has for it', () => {
  test('literals become an enum, with their default', () => {
    expect(spec['delivery']).toEqual({
      type: 'string',
      enum: ['at-least-once', 'exactly-once'],
      default: 'at-least-once',
    });
    expect(schemaOf(Type.Literal(true))).toEqual({ type: 'boolean', enum: [true] });
    expect(schemaOf(Type.Enum(['a', 'b']))).toEqual({ type: 'string', enum: ['a', 'b'] });
    expect(schemaOf(Type.Union([Type.Literal(1), Type.Literal(1.5)]))).toEqual({ type: 'number', enum: [1, 1.5] });
  });

  test('optional fields are not required, and closed objects are what Kubernetes has anyway', () => {
    const node = root?.properties?.['spec'];
    expect(node?.required).toEqual(['image', 'delivery', 'replicas', 'topics', 'sink']);
    expect(node).not.toHaveProperty('additionalProperties');
  });

  test('limits that exclude their own value get the flag of Kubernetes', () => {
    expect(spec['maxReplicas']).toEqual({ type: 'integer', minimum: 0, exclusiveMinimum: true });
    expect(spec['ratio']).toEqual({ type: 'number', minimum: 0, maximum: 1, exclusiveMaximum: true });
  });

  test('a record becomes a map, null becomes nullable, a number or text becomes int-or-string', () => {
    expect(spec['labels']).toEqual({
      type: 'object',
      maxProperties: 8,
      additionalProperties: { type: 'string', maxLength: 63 },
    });
    expect(spec['note']).toEqual({ type: 'string', nullable: true });
    expect(spec['either']).toEqual({ 'x-kubernetes-int-or-string': true });
    expect(spec['surge']).toEqual({ 'x-kubernetes-int-or-string': true, default: '25%' });
  });

  test('what may be anything is kept', () => {
    const kept = { 'x-kubernetes-preserve-unknown-fields': true };
    expect(spec['settings']).toEqual(kept);
    expect(schemaOf(Type.Unknown())).toEqual(kept);
    expect(schemaOf(Type.Any({ description: 'Whatever.' }))).toEqual({ ...kept, description: 'Whatever.' });
    expect(spec['open']).toMatchObject({ type: 'object', ...kept });
    expect(schemaOf(Type.Object({}, { additionalProperties: true }))).toMatchObject({ type: 'object', ...kept });
  });

  test('an intersection becomes one object', () => {
    expect(spec['joined']).toEqual({
      type: 'object',
      required: ['left'],
      properties: { left: { type: 'boolean' }, right: { type: 'boolean' } },
    });
  });

  test('a union of objects becomes one object whose rules say which fields go with which type', () => {
    expect(spec['sink']).toMatchObject({ type: 'object', required: ['type'] });
    expect(spec['sink']?.properties?.['type']).toEqual({ type: 'string', enum: ['kafka', 'postgres', 'none'] });
    expect(Object.keys(spec['sink']?.properties ?? {})).toEqual([
      'type',
      'topic',
      'partitions',
      'batchSize',
      'table',
      'dry-run',
      'namespace',
      'while',
    ]);
    const rules = spec['sink']?.['x-kubernetes-validations'] ?? [];
    expect(rules).toContainEqual({
      rule: 'self.type != "kafka" || has(self.topic)',
      message: 'topic is required when type is kafka',
      reason: 'FieldValueRequired',
      fieldPath: '.topic',
    });
    expect(rules).toContainEqual({
      rule: '!has(self.batchSize) || self.type in ["kafka","postgres"]',
      message: 'batchSize is only for type kafka or postgres',
      reason: 'FieldValueForbidden',
      fieldPath: '.batchSize',
    });
    // CEL has its own spelling for names it could not read.
    expect(rules.map(({ rule }) => rule)).toEqual(
      expect.arrayContaining([
        '!has(self.dry__dash__run) || self.type in ["none"]',
        '!has(self.__while__) || self.type in ["none"]',
        '!has(self.__namespace__) || self.type in ["none"]',
        'self.type != "kafka" || (!has(self.partitions) || self.topic != \'single\')',
      ]),
    );
  });

  test('a rule on a union stands beside those that the union brings', () => {
    const variants = [
      Type.Object({ type: Type.Literal('a'), a: Type.Integer() }),
      Type.Object({ type: Type.Literal('b') }),
    ];
    const rules = schemaOf(withRules(Type.Union(variants), [{ rule: 'true' }]))?.['x-kubernetes-validations'];
    expect(rules?.map(({ rule }) => rule)).toEqual([
      'self.type != "a" || has(self.a)',
      '!has(self.a) || self.type in ["a"]',
      'true',
    ]);
  });

  test('what narrows a type is kept, in the words of Kubernetes', () => {
    const narrowed = Type.Unsafe({
      type: 'integer',
      not: { const: 3 },
      anyOf: [{ exclusiveMinimum: 5 }, { maximum: 4 }],
    });
    expect(schemaOf(narrowed)).toEqual({
      type: 'integer',
      not: { enum: [3] },
      anyOf: [{ minimum: 5, exclusiveMinimum: true }, { maximum: 4 }],
    });
  });

  test('conditions are a list map by type within the bounds of Kubernetes', () => {
    const status = root?.properties?.['status']?.properties ?? {};
    expect(status['conditions']).toMatchObject({
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['type'],
      items: { required: ['type', 'status', 'reason', 'message', 'lastTransitionTime'] },
    });
    expect(status['observedGeneration']).toMatchObject({ type: 'integer', format: 'int64' });
  });
});

describe('what no CRD can say is an error that names the place and the way out', () => {
  test.each([
    ['a tuple', Type.Tuple([Type.String()]), 'spec.field: a CRD has no tuples'],
    [
      'a union of types',
      Type.Union([Type.String(), Type.Boolean()]),
      'spec.field: a union of string and boolean: a field has one type',
    ],
    [
      'objects that look alike',
      Type.Union([Type.Object({ a: Type.String() }), Type.Object({ b: Type.String() })]),
      'spec.field: cannot tell the objects of this union apart',
    ],
    [
      'one field, two types',
      Type.Union([object('a', Type.String()), object('b', Type.Integer())]),
      'spec.field.value: differs between the objects',
    ],
    [
      'patterned keys',
      Type.Record(Type.String({ pattern: '^a' }), Type.String()),
      'spec.field: a CRD cannot say what the keys of a map look like',
    ],
    [
      'unique items',
      Type.Array(Type.String(), { uniqueItems: true }),
      'spec.field: uniqueItems: the API server refuses it; use listSet()',
    ],
    ['an unknown format', Type.String({ format: 'hovercraft' }), 'spec.field: format hovercraft is none'],
    [
      'an enum or null',
      Type.Union([Type.Literal('a'), Type.Null()]),
      'spec.field: the API server refuses null where there is an enum',
    ],
    [
      'a default for one variant',
      Type.Union([
        Type.Object({ type: Type.Literal('a'), n: Type.Integer({ default: 1 }) }),
        Type.Object({ type: Type.Literal('b') }),
      ]),
      'spec.field.n: the server would fill in this default for every type',
    ],
    [
      'an open variant',
      Type.Union([object('a', Type.String()), withUnknownFields(object('b', Type.String()))]),
      'spec.field: x-kubernetes-preserve-unknown-fields on a part of it',
    ],
    ['a pattern that looks ahead', Type.String({ pattern: '^(?!x)' }), 'spec.field: pattern ^(?!x) looks around'],
    ['two lower limits', Type.Integer({ minimum: 1, exclusiveMinimum: 3 }), 'spec.field: a CRD has one minimum'],
    ['null', Type.Null(), 'spec.field: null alone is no type'],
    [
      'literals of two types',
      Type.Union([Type.Literal('a'), Type.Literal(1)]),
      'spec.field: "a", 1 are not of one type',
    ],
    ['a reference', Type.Ref('Other'), 'spec.field: $ref: a CRD cannot refer to another schema'],
    ['deep inside', Type.Array(Type.Object({ x: Type.Tuple([]) })), 'spec.field[].x: a CRD has no tuples'],
  ])('%s', (_, field, message) => {
    expect(() => schemaOf(field)).toThrow(SchemaError);
    expect(() => schemaOf(field)).toThrow(message);
  });
});
