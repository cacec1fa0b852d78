import fc from 'fast-check';
import { type TSchema, Type } from 'typebox';
import { Check } from 'typebox/value';
import { describe, expect, test } from 'vitest';
import { defineKind, describeProblem, validate } from './index.ts';
import { aPipeline, kindWith, Pipeline } from './testdata/kinds.ts';

const linesOf = (spec: object) => validate(Pipeline, aPipeline(spec)).map(describeProblem);

describe('validate', () => {
  test('has nothing against an object that the server would take', () => {
    const spec = {
      sinks: [{ type: 'postgres', table: 't' }, { type: 'none' }],
      labels: { 'a.b/c': 'x' },
      surge: 3,
      either: 'x',
      note: null,
      settings: { deep: [1, { er: null }] },
      open: { known: true, other: 1 },
      since: '2026-02-28T12:00:00Z',
      resources: { limits: { cpu: '500m', memory: 3 } },
    };
    expect(linesOf(spec)).toEqual([]);
  });

  test('says what is wrong with every field at once, with the value and the rule', () => {
    const spec = {
      replicas: -1,
      delivery: 'maybe',
      image: '',
      ratio: 1,
      maxReplicas: 0,
      topics: ['A', 'b', 'b'],
      since: 'now',
    };
    expect(linesOf(spec).toSorted()).toEqual([
      'spec.delivery: must be one of at-least-once, exactly-once, but is "maybe"',
      'spec.image: must have at least 1 character, but has 0',
      'spec.maxReplicas: must be more than 0, but is 0',
      'spec.ratio: must be less than 1, but is 1',
      'spec.replicas: must be at least 0, but is -1',
      'spec.since: must be date-time, but is "now"',
      'spec.topics[0]: must match ^[a-z][a-z0-9.-]*$, but is "A"',
      'spec.topics[2]: is in the list already',
    ]);
  });

  test('counts lists, maps and characters', () => {
    expect(linesOf({ topics: [] })).toEqual(['spec.topics: must have at least 1 item, but has 0']);
    const labels = Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`l${n}`, '']));
    expect(linesOf({ labels })).toEqual(['spec.labels: must have at most 8 entries, but has 9']);
    expect(linesOf({ labels: { 'a/b': '😀'.repeat(64) } })).toEqual([
      'spec.labels[a/b]: must have at most 63 characters, but has 64',
    ]);
  });

  test('names an unknown field, and the one that was probably meant', () => {
    expect(linesOf({ replica: 3 })).toEqual(['spec.replica: unknown field; did you mean replicas?']);
    expect(linesOf({ sink: { type: 'kafka', topic: 'a', batchsize: 3 } })).toEqual([
      'spec.sink.batchsize: unknown field; did you mean batchSize?',
    ]);
    expect(linesOf({ hovercraft: 3 })).toEqual(['spec.hovercraft: unknown field']);
    expect(linesOf({ affinity: { nodeAfinity: {} } })).toEqual([
      'spec.affinity.nodeAfinity: unknown field; did you mean nodeAffinity?',
    ]);
  });

  test('ties the fields of a variant to its type', () => {
    expect(linesOf({ sink: { type: 'kafka', table: 't' } })).toEqual([
      'spec.sink.topic: topic is required when type is kafka',
      'spec.sink.table: table is only for type postgres',
    ]);
    expect(linesOf({ sink: { type: 'carrier-pigeon' } })).toEqual([
      'spec.sink.type: must be one of kafka, postgres, none, but is "carrier-pigeon"',
    ]);
    expect(linesOf({ sink: {} })).toEqual(['spec.sink.type: is required']);
  });

  test('sees two items with the same key', () => {
    const env = [{ name: 'A' }, { name: 'B' }, { name: 'A', value: 'x' }];
    expect(linesOf({ env })).toEqual(['spec.env[2]: has the name of an item before it']);
  });

  test('names types as people do', () => {
    expect(linesOf({ replicas: 'three', surge: true, labels: [], sink: 'x', topics: {} }).toSorted()).toEqual([
      'spec.labels: must be an object, but is a list',
      'spec.replicas: must be an integer, but is "three"',
      'spec.sink: must be an object, but is "x"',
      'spec.surge: must be an integer or a string, but is true',
      'spec.topics: must be a list, but is an object',
    ]);
  });

  test('takes null for missing, as the server does, but not in a list', () => {
    expect(linesOf({ replicas: null, maxReplicas: null, labels: { a: null } })).toEqual([]);
    expect(linesOf({ image: null })).toEqual(['spec.image: is required']);
    expect(linesOf({ topics: [null] })).toEqual(['spec.topics[0]: must be a string, but is null']);
  });

  test('looks at the object itself: its type, its version, its spec', () => {
    expect(
      validate(Pipeline, { apiVersion: 'v1', kind: 'Pipeline', metadata: { name: 'p' } }).map(describeProblem),
    ).toEqual(['apiVersion: must be kinds.polder.dev/v1, but is "v1"', 'spec: is required']);
    expect(validate(Pipeline, 'text').map(describeProblem)).toEqual(['must be an object, but is "text"']);
    expect(validate(Pipeline, { ...aPipeline(), spce: 1 }).map(describeProblem)).toEqual([
      'spce: unknown field; did you mean spec?',
    ]);
  });

  test('is not fooled by the names that every JavaScript object has', () => {
    expect(linesOf({ sink: { type: 'constructor' } })).toEqual([
      'spec.sink.type: must be one of kafka, postgres, none, but is "constructor"',
    ]);
    const object: unknown = JSON.parse('{ "__proto__": {}, "toString": 1 }');
    expect(validate(Pipeline, { ...aPipeline(), spec: object }).map(describeProblem)).toEqual(
      expect.arrayContaining([
        'spec.__proto__: unknown field',
        'spec.toString: unknown field',
        'spec.image: is required',
      ]),
    );
  });

  test('leaves the object as it was', () => {
    const object = aPipeline({ maxReplicas: null });
    const before = structuredClone(object);
    validate(Pipeline, object);
    expect(object).toEqual(before);
  });
});

describe('a secret is never quoted', () => {
  const Login = defineKind({
    group: 'g.example.com',
    version: 'v1',
    kind: 'Login',
    plural: 'logins',
    spec: Type.Object({
      password: Type.String({ pattern: '^x$' }),
      apiToken: Type.Integer(),
      secrets: Type.Array(Type.Object({ value: Type.Integer() })),
      url: Type.String({ pattern: '^x$' }),
    }),
    status: Type.Object({}),
  });

  test('when its field is marked', () => {
    expect(linesOf({ login: 1234 })).toEqual(['spec.login: must be a string']);
  });

  test('when its field or one above it is named like one, and in a URL', () => {
    const spec = {
      password: 'hunter2',
      apiToken: 'hunter2',
      secrets: [{ value: 'hunter2' }],
      url: 'db://me:hunter2@host/x',
    };
    const lines = validate(Login, { apiVersion: 'g.example.com/v1', kind: 'Login', spec }).map(describeProblem);
    expect(lines).toEqual([
      'spec.password: must match ^x$',
      'spec.apiToken: must be an integer',
      'spec.secrets[0].value: must be an integer',
      'spec.url: must match ^x$, but is "db://…@host/x"',
    ]);
  });
});

describe('the schema that was written and the one that the server gets', () => {
  interface Sample {
    readonly schema: TSchema;
    readonly value: fc.Arbitrary<unknown>;
  }
  const scalar: fc.Arbitrary<Sample> = fc.oneof(
    fc.record({ schema: fc.constant(Type.String({ maxLength: 3 })), value: fc.constant(fc.string({ maxLength: 4 })) }),
    fc.record({
      schema: fc.constant(Type.Integer({ minimum: 0, exclusiveMaximum: 3 })),
      value: fc.constant(fc.integer({ min: -1, max: 3 })),
    }),
    fc.record({
      schema: fc.constant(Type.Number({ multipleOf: 0.5 })),
      value: fc.constant(fc.constantFrom(0, 0.5, 0.7, 1)),
    }),
    fc.record({ schema: fc.constant(Type.Boolean()), value: fc.constant(fc.boolean()) }),
    fc.record({
      schema: fc.constant(Type.Union([Type.Literal('a'), Type.Literal('b')])),
      value: fc.constant(fc.constantFrom('a', 'b', 'c')),
    }),
    fc.record({
      schema: fc.constant(Type.Union([Type.String(), Type.Null()])),
      value: fc.constant(fc.constantFrom('a', null)),
    }),
    fc.record({
      schema: fc.constant(Type.Union([Type.Integer(), Type.String()])),
      value: fc.constant(fc.constantFrom('a', 1)),
    }),
    fc.record({ schema: fc.constant(Type.Unknown()), value: fc.constant(fc.constantFrom('a', 1, [{}])) }),
  );
  const closed = { additionalProperties: false };

  const { sample } = fc.letrec<{ sample: Sample; list: Sample; map: Sample; object: Sample; union: Sample }>((tie) => ({
    sample: fc.oneof({ maxDepth: 3 }, scalar, tie('list'), tie('map'), tie('object'), tie('union')),
    list: tie('sample').map(({ schema, value }) => ({
      schema: Type.Array(schema, { minItems: 1, maxItems: 2 }),
      value: fc.array(value, { maxLength: 3 }),
    })),
    map: tie('sample').map(({ schema, value }) => ({
      schema: Type.Record(Type.String(), schema, { maxProperties: 2 }),
      value: fc.dictionary(fc.constantFrom('x', 'y', 'z'), value),
    })),
    object: fc.tuple(tie('sample'), tie('sample')).map(([a, b]) => ({
      schema: Type.Object({ a: a.schema, b: Type.Optional(b.schema) }, closed),
      value: fc.record({ a: a.value, b: b.value, c: fc.constant(1) }, { requiredKeys: [] }),
    })),
    union: fc.tuple(tie('sample'), tie('sample')).map(([a, b]) => ({
      schema: Type.Union([
        Type.Object({ type: Type.Literal('a'), a: a.schema }, closed),
        Type.Object({ type: Type.Literal('b'), a: Type.Optional(a.schema), b: b.schema }, closed),
      ]),
      value: fc.record({ type: fc.constantFrom('a', 'b', 'c'), a: a.value, b: b.value }, { requiredKeys: [] }),
    })),
  }));
  // Now and then a value of quite another shape. Null is left to those who want it: elsewhere the server drops it.
  const wild = fc.oneof(
    fc.integer(),
    fc.string(),
    fc.boolean(),
    fc.constant([]),
    fc.constant({}),
    fc.constant({ a: 1 }),
  );
  const cases = sample.chain(({ schema, value }) =>
    fc.record({
      schema: fc.constant(schema),
      value: fc.oneof({ weight: 4, arbitrary: value }, { weight: 1, arbitrary: wild }),
    }),
  );

  test('admit the same values', () => {
    const seen = { accepted: 0, refused: 0 };
    fc.assert(
      fc.property(cases, ({ schema, value }) => {
        const spec = Type.Object({ value: schema });
        const kind = kindWith(spec);
        const problems = validate(kind, {
          apiVersion: 'g.example.com/v1',
          kind: 'K',
          metadata: { name: 'k' },
          spec: { value },
        });
        const isAccepted = Check(schema, value);
        seen[isAccepted ? 'accepted' : 'refused']++;
        expect({ schema, value, isAccepted: problems.length === 0 }).toEqual({ schema, value, isAccepted });
      }),
      { numRuns: 200 },
    );
    // A property that only ever saw one side would hold for a validator that says yes to all.
    expect(Math.min(seen.accepted, seen.refused)).toBeGreaterThan(30);
  });
});
