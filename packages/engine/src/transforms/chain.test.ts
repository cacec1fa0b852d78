import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { applyAll, compileTransforms, type TransformSpec } from './chain.ts';
import { messageOf, NOON } from './test-message.ts';
import {
  castTo,
  distinct,
  ModelFailure,
  type ModelMessage,
  type ModelStep,
  message,
  print,
  SCALARS,
  STEPS,
  type Tree,
  TYPES,
  tree,
} from './test-model/index.ts';

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

/** What nobody changed keeps its text, equal keys included; what was changed has each key once. */
const readable = (text: string | undefined, given: Tree | undefined) =>
  given !== undefined && text === print(given) ? print(distinct(given)) : text;

/** What comes out, and what should. */
function compared(given: ModelMessage, steps: readonly ModelStep[]) {
  let modelled: readonly ModelMessage[] = [{ ...given, tree: given.tree && distinct(given.tree) }];
  let failures = 0;
  for (const { apply } of steps) {
    modelled = modelled.flatMap((one) => {
      try {
        return apply(one);
      } catch (error) {
        if (!(error instanceof ModelFailure)) throw error;
        failures += 1;
        return [];
      }
    });
  }
  const specs = steps.map(({ spec }) => spec);
  const payload = given.tree === undefined ? null : print(given.tree);
  const real = applyAll(compileTransforms(specs, NOON), messageOf(payload, given.metadata));
  return {
    actual: {
      outputs: real.outputs.map((one) => [readable(one.payload?.text, given.tree), one.metadata]),
      failures: real.failures.length,
    },
    expected: { outputs: modelled.map((one) => [one.tree && print(one.tree), one.metadata]), failures },
  };
}

describe('over any message, to the letter what the model does', () => {
  test.each(Object.entries(STEPS))('does %s', (_, step) => {
    fc.assert(
      fc.property(message, step, (given, one) => {
        const { actual, expected } = compared(given, [one]);
        expect(actual).toEqual(expected);
      }),
      { numRuns: 400 },
    );
  });

  test('does any chain', () => {
    const chains = fc.array(fc.oneof(...Object.values(STEPS)), { minLength: 2, maxLength: 5 });
    fc.assert(
      fc.property(message, chains, (given, steps) => {
        const { actual, expected } = compared(given, steps);
        expect(actual).toEqual(expected);
      }),
      { numRuns: 1000 },
    );
  });

  test.each(TYPES)('does every cast to %s', (type) => {
    for (const scalar of SCALARS) {
      const { actual, expected } = compared({ tree: { pairs: [['a', scalar]] }, metadata: {} }, [castTo(['a'], type)]);
      expect({ scalar, ...actual }).toEqual({ scalar, ...expected });
    }
  });
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
