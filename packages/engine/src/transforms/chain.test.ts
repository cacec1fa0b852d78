import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { applyAll, compileTransforms, type TransformSpec } from './chain.ts';
import { messageOf, NOON } from './test-message.ts';
import {
  apply,
  distinct,
  ModelFailure,
  type ModelStep,
  print,
  type Segments,
  specOf,
  type Tree,
} from './test-model.ts';

const transformed = (specs: readonly TransformSpec[], payload: string | Buffer | null) =>
  applyAll(compileTransforms(specs, NOON), messageOf(payload));

const texts = (specs: readonly TransformSpec[], payload: string) =>
  transformed(specs, payload).outputs.map((message) => message.payload?.text);

describe('a chain', () => {
  test('takes each message through all transformations in order', () => {
    const specs: readonly TransformSpec[] = [
      { type: 'flatten', config: { field: 'items' } },
      { type: 'filter', config: { condition: "$.status == 'paid' && sku != 'q'" } },
      { type: 'mask', config: { fields: ['customer.card'] } },
      { type: 'select', config: { fields: ['sku', 'price', 'customer.card'] } },
      { type: 'timestamp', config: {} },
    ];
    const order =
      '{"status":"paid","customer":{"card":"4111"},"items":[{"sku":"p","price":1.50},{"sku":"q"},{"sku":"r","price":2.00}]}';
    expect(texts(specs, order)).toEqual([
      '{"sku":"p","price":1.50,"card":"***","created_at":"2026-03-01T12:00:00Z"}',
      '{"sku":"r","price":2.00,"card":"***","created_at":"2026-03-01T12:00:00Z"}',
    ]);
  });

  test('that has nothing to do leaves the message as it is', () => {
    const message = messageOf('{ "a": 1 }');
    expect(applyAll([], message)).toEqual({ outputs: [message], failures: [] });
    const chain = compileTransforms(
      [
        { type: 'remove', config: { fields: ['b'] } },
        { type: 'filter', config: { condition: 'a' } },
      ],
      NOON,
    );
    expect(applyAll(chain, message).outputs[0]).toBe(message);
  });

  test('says which transformation failed on which message, and goes on with the others', () => {
    const specs: readonly TransformSpec[] = [
      { type: 'flatten', config: { field: 'rows' } },
      { type: 'cast', config: { spec: { n: 'int64' } } },
      { type: 'hoistField', config: { field: 'row' } },
    ];
    const { outputs, failures } = transformed(specs, '{"rows":[{"n":"1"},{"n":"secret"},{"n":"3"}]}');
    expect(outputs.map((message) => message.payload?.text)).toEqual(['{"row":{"n":1}}', '{"row":{"n":3}}']);
    expect(failures).toMatchObject([
      {
        because: "cast (transformations[1]): 'n': this string is no int64",
        type: 'transformation_error',
        isRetryable: false,
        failed: { type: 'cast', index: 1 },
      },
    ]);
    expect(failures[0]?.message.payload?.text).toBe('{"n":"secret"}');
  });

  test('tells whoever measures about each application', () => {
    const seen: string[] = [];
    const chain = compileTransforms(
      [
        { type: 'flatten', config: { field: 'r' } },
        { type: 'filter', config: { condition: 'a' } },
      ],
      NOON,
    );
    applyAll(chain, messageOf('{"r":[{"a":1},{"a":0}]}'), (compiled, message) => {
      const outputs = compiled.transform(message);
      seen.push(`${compiled.index} ${compiled.type} ${outputs.length}`);
      return outputs;
    });
    expect(seen).toEqual(['0 flatten 2', '1 filter 1', '1 filter 0']);
  });

  test('that can not be compiled says where in the spec', () => {
    const specs: readonly TransformSpec[] = [
      { type: 'snakeCase', config: {} },
      { type: 'mask', config: { fields: ['a', '#('] } },
    ];
    expect(() => compileTransforms(specs, NOON)).toThrow(
      expect.objectContaining({ field: 'transformations[1].fields[1]' }),
    );
  });
});

const KEYS = ['a', 'b', 'aB', 'a_b', '10', '2', '__proto__', 'x.y', 'array'];
const key = fc.constantFrom(...KEYS);
const scalar = fc.constantFrom(
  'null',
  'true',
  'false',
  '0',
  '-0',
  '0.0',
  '0.10',
  '1e3',
  '9007199254740993',
  '5',
  '""',
  '"x"',
  '"false"',
  '"<&>"',
);
const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar,
    fc.array(tie('tree'), { maxLength: 4 }).map((items) => ({ items })),
    fc.array(fc.tuple(key, tie('tree')), { maxLength: 6 }).map((pairs) => ({ pairs })),
  ),
}));
const document = fc.oneof(
  { weight: 9, arbitrary: fc.array(fc.tuple(key, tree), { maxLength: 7 }).map((pairs) => ({ pairs })) },
  { weight: 1, arbitrary: tree },
);
const single = fc.array(key, { minLength: 1, maxLength: 3 });
const path: fc.Arbitrary<Segments> = fc.array(
  fc.oneof({ weight: 4, arbitrary: key }, { weight: 1, arbitrary: fc.constantFrom('#', '0', '1') }),
  { minLength: 1, maxLength: 4 },
);
const paths = fc.array(path, { minLength: 1, maxLength: 3 });
/** A segment of digits would make arrays. */
const name = fc.constantFrom(...KEYS.filter((name) => !/\d/.test(name)));
const step: fc.Arbitrary<ModelStep> = fc.oneof(
  fc.record({ type: fc.constantFrom('mask', 'remove', 'select'), paths }),
  fc.record({ type: fc.constant('flatten'), path: single }),
  fc.record({ type: fc.constant('extractField'), path }),
  fc.record({
    type: fc.constant('filter'),
    path,
    equals: fc.constantFrom(undefined, undefined, 'x', '1000', '0.1', '', '9007199254740993'),
  }),
  fc.record({ type: fc.constant('hoistField'), key: fc.constantFrom('a', '10', '__proto__'), inner: fc.constant([]) }),
  fc.record({ type: fc.constant('insertField'), key: name, inner: fc.array(name, { maxLength: 2 }) }),
  fc.record({ type: fc.constantFrom('snakeCase', 'camelCase'), deep: fc.boolean() }),
  fc.record({ type: fc.constant('structFlatten') }),
);

test('any chain over any document does what the model does, to the letter', () => {
  fc.assert(
    fc.property(document, fc.array(step, { minLength: 1, maxLength: 5 }), (input, steps) => {
      let expected: readonly Tree[] = [distinct(input)];
      let failures = 0;
      for (const one of steps) {
        expected = expected.flatMap((tree) => {
          try {
            return apply(one, tree);
          } catch (error) {
            if (!(error instanceof ModelFailure)) throw error;
            failures += 1;
            return [];
          }
        });
      }
      const actual = transformed(steps.map(specOf), print(input));
      // What nobody changed keeps its text, equal keys included.
      const textOf = (text: string | undefined) => (text === print(input) ? print(distinct(input)) : text);
      expect(actual.outputs.map((message) => textOf(message.payload?.text))).toEqual(expected.map(print));
      expect(actual.failures).toHaveLength(failures);
    }),
    { numRuns: 2000 },
  );
});

const EVERY_TYPE: readonly TransformSpec[] = [
  { type: 'timestamp', config: { fieldName: 'm.t' } },
  { type: 'flatten', config: { field: 'a' } },
  { type: 'filter', config: { condition: '!never' } },
  { type: 'mask', config: { fields: ['a', 'b.#', '*.a'], keepLength: true } },
  { type: 'router', config: { routes: [{ condition: 'a == 5 || b' }] } },
  { type: 'select', config: { fields: ['a', 'b.#.a', '*'] } },
  { type: 'remove', config: { fields: ['a.0', 'b', '#.a'] } },
  { type: 'snakeCase', config: { deep: true } },
  { type: 'camelCase', config: { deep: true } },
  {
    type: 'debeziumUnwrap',
    config: { inferDeleteFromTombstone: true, includeSourceInMetadata: true, addOperationFields: true },
  },
  { type: 'replaceField', config: { renames: ['a:b.c', '2:10'], exclude: ['x*'] } },
  { type: 'headersToPayload', config: { mappings: ['h:a.b'] } },
  { type: 'structFlatten', config: {} },
  { type: 'extractField', config: { field: 'a' } },
  { type: 'hoistField', config: { field: 'a' } },
  { type: 'cast', config: { spec: { a: 'string', '*.b': 'int64' } } },
  { type: 'timezone', config: { timezone: 'Europe/Amsterdam', fields: ['a', 'b.#'] } },
  { type: 'insertField', config: { fields: { 'a.b': '${metadata.key}', c: '${now}' } } },
];

describe.each(EVERY_TYPE)('$type', (spec) => {
  const chain = compileTransforms([spec], NOON);
  const metadata = { key: '{"a":1}', headers: { h: 'x' } };

  test('never crashes, whatever comes, and makes JSON of JSON', () => {
    const payloads = fc.oneof(
      fc.uint8Array({ maxLength: 64 }).map((bytes) => Buffer.from(bytes)),
      fc.uint16Array({ maxLength: 64 }).map((codes) => String.fromCharCode(...codes)),
      fc.json(),
      tree.map(print),
      fc.constant(null),
    );
    fc.assert(
      fc.property(payloads, (payload) => {
        const input = messageOf(payload, metadata);
        const isJson = input.payload?.json !== undefined;
        const { outputs, failures } = applyAll(chain, input);
        for (const { failed, because } of failures) expect(because).toContain(failed.type);
        for (const output of isJson ? outputs : []) expect(() => JSON.parse(output.payload?.text ?? '')).not.toThrow();
      }),
    );
  });

  test('lets bytes that are no JSON out as they came in', () => {
    for (const bytes of [
      Buffer.from([0xff, 0xfe, 0x00]),
      Buffer.from('{"a":1'),
      Buffer.from(`${'['.repeat(100_000)}${']'.repeat(100_000)}`),
    ]) {
      for (const output of applyAll(chain, messageOf(bytes, metadata)).outputs)
        expect(output.payload?.bytes).toBe(bytes);
    }
  });

  // Sizes at which anything quadratic runs into the time limit of a test: to be done at all is the proof.
  test.each([
    ['backslashes', `{"a":"${'\\\\'.repeat(200_000)}","b":0.10}`],
    ['escaped quotes', `{"a":"${'\\"'.repeat(200_000)}","b":0.10}`],
    ['digits', `{"a":${'1'.repeat(200_000)},"b":"${'9'.repeat(200_000)}"}`],
    ['zeros behind the point', `{"a":0.${'0'.repeat(100_000)}1,"b":[0.${'0'.repeat(100_000)}]}`],
    ['spaces', `{"a":${' '.repeat(200_000)}0.10${' '.repeat(200_000)}}`],
    ['elements', `{"b":[${'1,'.repeat(100_000)}0.10]}`],
    ['members', `{${Array.from({ length: 20_000 }, (_, n) => `"k${n}":${n}`).join(',')},"b":0.10}`],
    ['zeros before a letter', `{"c":{"b":"${'0'.repeat(200_000)}x"}}`],
    ['capitals', `{"${'A'.repeat(200_000)}":0.10}`],
    ['levels', `${'{"a":['.repeat(1000)}0.10${']}'.repeat(1000)}`],
  ])('reads many %s in time that grows with their number', (_, payload) => {
    const { outputs, failures } = applyAll(chain, messageOf(payload, metadata));
    expect(outputs.length + failures.length).toBeGreaterThan(0);
    for (const output of outputs.slice(0, 1)) expect(output.payload?.text.length).toBeGreaterThan(0);
  });
});
