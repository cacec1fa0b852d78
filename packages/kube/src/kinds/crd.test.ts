import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import {
  crdOf,
  defineKind,
  listMap,
  SchemaError,
  statusOf,
  structuralProblems,
  unboundedUnderRules,
  withRules,
} from './index.ts';
import { ClusterThing, OldClusterThing, Pipeline } from './testdata/kinds.ts';

const crd = crdOf(Pipeline);
const root = crd.spec.versions[0]?.schema?.openAPIV3Schema;
const spec = root?.properties?.['spec']?.properties ?? {};

const aKind = (spec: object) =>
  defineKind({ group: 'g.example.com', version: 'v1', kind: 'K', plural: 'ks', spec, status: Type.Object({}) });
const schemaOf = (field: object) => {
  const made = crdOf(aKind(Type.Object({ field })));
  return made.spec.versions[0]?.schema?.openAPIV3Schema?.properties?.['spec']?.properties?.['field'];
};

describe('the CRD of a kind', () => {
  test('is found under the name that the server asks for, with all its names', () => {
    expect(crd.metadata.name).toBe('pipelines.kinds.polder.dev');
    expect(crd.spec).toMatchObject({
      group: 'kinds.polder.dev',
      scope: 'Namespaced',
      names: {
        kind: 'Pipeline',
        listKind: 'PipelineList',
        plural: 'pipelines',
        singular: 'pipeline',
        shortNames: ['pl'],
        categories: ['polder'],
      },
    });
    expect(crdOf(ClusterThing).spec.scope).toBe('Cluster');
  });

  test('has a status of its own, a scale, columns that end with the age, and selectable fields', () => {
    expect(crd.spec.versions[0]).toMatchObject({
      subresources: { status: {}, scale: { specReplicasPath: '.spec.replicas' } },
      additionalPrinterColumns: [{ name: 'Replicas' }, { name: 'Age', jsonPath: '.metadata.creationTimestamp' }],
      selectableFields: [{ jsonPath: '.spec.delivery' }],
    });
    expect(crdOf(ClusterThing).spec.versions[0]?.subresources).toEqual({ status: {} });
    expect(crdOf(ClusterThing).spec.versions[0]).not.toHaveProperty('additionalPrinterColumns');
  });

  test('says nothing of metadata but that it is an object, and carries the rules of the whole object', () => {
    expect(root?.properties).toMatchObject({ apiVersion: { type: 'string' }, kind: { type: 'string' } });
    expect(root?.properties?.['metadata']).toEqual({ type: 'object' });
    expect(root?.required).toEqual(['spec']);
    expect(root?.['x-kubernetes-validations']).toHaveLength(1);
  });

  test('of several versions stores the first and serves them all', () => {
    const { versions } = crdOf(ClusterThing, OldClusterThing).spec;
    expect(versions.map(({ name, served, storage }) => [name, served, storage])).toEqual([
      ['v1', true, true],
      ['v1beta1', true, false],
    ]);
    expect(() => crdOf(ClusterThing, Pipeline)).toThrow(
      'clusterthings.kinds.polder.dev: kind is Pipeline in v1 and ClusterThing in v1; all versions of a kind share it',
    );
  });

  test('is structural, and knows no keyword of ours', () => {
    expect(structuralProblems(crd)).toEqual([]);
    expect(structuralProblems(crdOf(ClusterThing, OldClusterThing))).toEqual([]);
    expect(JSON.stringify(crd)).not.toContain('x-polder');
  });
});

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
        '!has(self.__namespace__) || self.type in ["none"]',
        'self.type != "kafka" || (!has(self.partitions) || self.topic != \'single\')',
      ]),
    );
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
  const object = (type: string, value: object) => Type.Object({ type: Type.Literal(type), value });
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

describe('structuralProblems finds', () => {
  const problemsOf = (field: object) =>
    structuralProblems(crdOf(aKind(Type.Object({ field })))).map(({ path, message }) => `${path}: ${message}`);
  test.each([
    ['a keyword nobody knows', Type.String({ 'x-other': 1 }), 'v1.spec.field: x-other is no keyword of a CRD'],
    ['a missing type', Type.Unsafe({ maxLength: 3 }), 'v1.spec.field: has no type'],
    ['a list without items', Type.Unsafe({ type: 'array' }), 'v1.spec.field: is a list without items'],
    [
      'a default of the wrong type',
      Type.Integer({ default: 'x' }),
      'v1.spec.field: has a default that its own schema refuses: must be integer',
    ],
    [
      'a key that may be missing',
      listMap(Type.Object({ name: Type.Optional(Type.String()) }), ['name']),
      'v1.spec.field: has the key name, which is neither required nor has a default',
    ],
    [
      'a type in a branch',
      Type.Unsafe({ type: 'string', anyOf: [{ type: 'string' }] }),
      'v1.spec.field: says type inside allOf, anyOf, oneOf or not',
    ],
  ])('%s', (_, field, problem) => {
    expect(problemsOf(field)).toEqual([problem]);
  });
});

describe('unboundedUnderRules', () => {
  const rule = (text: string) => [{ rule: text, message: 'no' }];
  const fields = { a: Type.String(), b: Type.String({ maxLength: 3 }), c: Type.Array(Type.String({ maxLength: 3 })) };
  const pathsOf = (spec: object) =>
    unboundedUnderRules(crdOf(aKind(spec))).map(({ path, message }) => `${path} ${message}`);

  test('lists the texts and lists that a rule reads, and only those', () => {
    expect(pathsOf(withRules(Type.Object(fields), rule('self.b == self.a')))).toEqual([
      'v1.spec.a is under a rule and has no maxLength',
    ]);
    expect(pathsOf(withRules(Type.Object(fields), rule('self.c.size() > 1')))).toEqual([
      'v1.spec.c is under a rule and has no maxItems',
    ]);
    expect(pathsOf(withRules(Type.Object(fields), rule('!has(self.a) || self.b == "a"')))).toEqual([]);
    expect(pathsOf(withRules(Type.Object(fields), rule('self == oldSelf')))).toHaveLength(2);
    expect(pathsOf(Type.Object(fields))).toEqual([]);
  });

  test('lists the lists around a rule', () => {
    const items = withRules(Type.Object({ n: Type.Integer() }), rule('self.n > 1'));
    expect(pathsOf(Type.Object({ list: Type.Array(items) }))).toEqual([
      'v1.spec.list is under a rule and has no maxItems',
    ]);
    expect(pathsOf(Type.Object({ list: Type.Array(items, { maxItems: 3 }) }))).toEqual([]);
  });

  test('has nothing against a status made by statusOf', () => {
    expect(unboundedUnderRules(crdOf(ClusterThing))).toEqual([]);
    expect(statusOf({}).properties.conditions).toBeDefined();
  });
});
