import { expect, topic } from './suite.ts';

type Fields = Readonly<Record<string, unknown>>;

const object = (properties: Fields, more: Fields = {}) => ({ type: 'object', properties, ...more });

/** A schema of `spec`, a value it takes, one it refuses, and where. */
const SAMPLES: readonly (readonly [what: string, spec: Fields, good: Fields, bad: Fields, field: string])[] = [
  [
    'exclusive bounds',
    object({ n: { type: 'number', minimum: 0, exclusiveMinimum: true } }),
    { n: 0.1 },
    { n: 0 },
    'spec.n',
  ],
  ['multiples', object({ n: { type: 'integer', multipleOf: 5 } }), { n: 10 }, { n: 7 }, 'spec.n'],
  ['whole numbers', object({ n: { type: 'integer' } }), { n: 3 }, { n: 3.5 }, 'spec.n'],
  [
    'the smallest list',
    object({ l: { type: 'array', minItems: 1, items: { type: 'string' } } }),
    { l: ['a'] },
    { l: [] },
    'spec.l',
  ],
  [
    'the size of a map',
    object({ m: { type: 'object', maxProperties: 1, additionalProperties: { type: 'string' } } }),
    { m: { a: 'x' } },
    { m: { a: 'x', b: 'y' } },
    'spec.m',
  ],
  [
    'the values of a map',
    object({ m: { type: 'object', additionalProperties: { type: 'integer' } } }),
    { m: { a: 1 } },
    { m: { a: 'x' } },
    'spec.m.a',
  ],
  [
    'dates',
    object({ t: { type: 'string', format: 'date-time' } }),
    { t: '2026-01-02T03:04:05Z' },
    { t: 'soon' },
    'spec.t',
  ],
  ['addresses', object({ a: { type: 'string', format: 'ipv4' } }), { a: '10.0.0.1' }, { a: '10.0.0' }, 'spec.a'],
  ['patterns', object({ s: { type: 'string', pattern: '^a+$' } }), { s: 'aa' }, { s: 'ab' }, 'spec.s'],
  [
    'one of two',
    object({ a: { type: 'string' }, b: { type: 'string' } }, { oneOf: [{ required: ['a'] }, { required: ['b'] }] }),
    { a: 'x' },
    { a: 'x', b: 'y' },
    '<nil>',
  ],
  [
    'any of two',
    object({ a: { type: 'string' }, b: { type: 'string' } }, { anyOf: [{ required: ['a'] }, { required: ['b'] }] }),
    { a: 'x', b: 'y' },
    {},
    '<nil>',
  ],
  ['what must not be', object({ a: { type: 'string', not: { enum: ['x'] } } }), { a: 'y' }, { a: 'x' }, '<nil>'],
  ['numbers or strings', object({ p: { 'x-kubernetes-int-or-string': true } }), { p: 80 }, { p: true }, 'spec.p'],
];

export const customSchemas = topic('schemas of custom resources', (promise) => {
  for (const [what, spec, good, bad, field] of SAMPLES) {
    promise(`hold ${what}`, async ({ wire, namespace, customResource }) => {
      const custom = await customResource({ spec });
      const path = custom.collection(await namespace());
      expect((await wire.create(path, custom.widget('good', { spec: good }))).status).toBe(201);
      const answer = await wire.create(path, custom.widget('bad', { spec: bad }));
      expect(answer.status).toBe(422);
      expect(answer.body.details.causes.map((cause) => cause.field)).toContain(field);
    });
  }

  promise('keep whole numbers beyond 2^53 exact', async ({ wire, namespace, customResource }) => {
    const custom = await customResource({ spec: object({ n: { type: 'integer', format: 'int64' } }) });
    const path = custom.collection(await namespace());
    const text = JSON.stringify(custom.widget('a', { spec: { n: 'N' } })).replace('"N"', '9007199254740993');
    const made = await wire.create(path, text);
    expect(made.status).toBe(201);
    expect(made.text).toContain('9007199254740993');
    expect((await wire.get(`${path}/a`)).text).toContain('9007199254740993');
  });

  promise('keep them exact through patches and applies', async ({ wire, namespace, customResource }) => {
    const numbers = { type: 'array', items: { type: 'integer', format: 'int64' }, 'x-kubernetes-list-type': 'set' };
    const custom = await customResource({ spec: object({ n: { type: 'integer', format: 'int64' }, numbers }) });
    const path = custom.collection(await namespace());
    const exact = (spec: object) => JSON.stringify(custom.widget('a', { spec })).replaceAll(/"(\d{16})"/g, '$1');
    const applied = await wire.apply(`${path}/a`, exact({ numbers: ['9007199254740993'] }));
    expect(applied.text).toContain('"numbers":[9007199254740993]');
    const patched = await wire.patch('merge', `${path}/a`, '{"spec":{"n":9007199254740995}}');
    expect(patched.text).toContain('"n":9007199254740995');
    expect(patched.text).toContain('"numbers":[9007199254740993]');
    const again = await wire.apply(`${path}/a`, exact({ numbers: ['9007199254740993', '9007199254740992'] }));
    expect(again.text).toContain('"numbers":[9007199254740993,9007199254740992]');
  });

  promise('compare them exactly', async ({ wire, namespace, customResource }) => {
    const rule = { rule: 'self != 9007199254740993', message: 'not this one' };
    const custom = await customResource({
      spec: object({ n: { type: 'integer', format: 'int64', 'x-kubernetes-validations': [rule] } }),
    });
    const path = custom.collection(await namespace());
    const text = (name: string, n: string) => JSON.stringify(custom.widget(name, { spec: { n } })).replace(`"${n}"`, n);
    expect((await wire.create(path, text('a', '9007199254740992'))).status).toBe(201);
    const refused = await wire.create(path, text('b', '9007199254740993'));
    expect(refused.status).toBe(422);
    expect(refused.body.message).toContain('spec.n: Invalid value: 9007199254740993: not this one');
  });

  promise('hold the bounds of whole numbers beyond 2^53', async ({ wire, namespace, customResource }) => {
    const custom = await customResource({
      spec: object({ n: { type: 'integer', format: 'int64', maximum: 2 ** 62 } }),
    });
    const path = custom.collection(await namespace());
    const text = JSON.stringify(custom.widget('a', { spec: { n: 'N' } })).replace('"N"', '9223372036854775807');
    const answer = await wire.create(path, text);
    expect(answer.status).toBe(422);
    expect(answer.body.details.causes[0]?.message).toContain('spec.n in body should be less than or equal to');
  });

  promise('check status on the status path', async ({ wire, namespace, customResource }) => {
    const custom = await customResource({
      status: object({ phase: { type: 'string', enum: ['Ready'] } }),
      subresources: { status: {} },
    });
    const path = custom.collection(await namespace());
    await wire.must(wire.create(path, custom.widget('a')));
    const answer = await wire.patch('merge', `${path}/a/status`, { status: { phase: 'Lost' } });
    expect(answer.status).toBe(422);
    expect(answer.body.details.causes[0]).toMatchObject({ field: 'status.phase', reason: 'FieldValueNotSupported' });
  });

  promise('leave labels alone on the status path', async ({ wire, namespace, customResource }) => {
    const custom = await customResource({ subresources: { status: {} } });
    const path = custom.collection(await namespace());
    await wire.must(wire.create(path, custom.widget('a')));
    const body = await wire.must(
      wire.patch('merge', `${path}/a/status`, { metadata: { labels: { a: 'b' } }, status: { ready: true } }),
    );
    expect(body.metadata).not.toHaveProperty('labels');
    expect(body.status).toEqual({ ready: true });
  });

  promise('check embedded objects for their own names', async ({ wire, namespace, customResource }) => {
    const custom = await customResource({
      spec: object({
        template: {
          type: 'object',
          'x-kubernetes-embedded-resource': true,
          'x-kubernetes-preserve-unknown-fields': true,
        },
      }),
    });
    const path = custom.collection(await namespace());
    const template = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' }, data: { k: 'v' } };
    expect((await wire.create(path, custom.widget('a', { spec: { template } }))).status).toBe(201);
    const answer = await wire.create(path, custom.widget('b', { spec: { template: { data: {} } } }));
    expect(answer.status).toBe(422);
    expect(answer.body.details.causes.map(({ field }) => field).toSorted()).toEqual([
      'spec.template.apiVersion',
      'spec.template.kind',
    ]);
  });

  promise('refuse a wrong type in metadata', async ({ wire, namespace, customResource }) => {
    const custom = await customResource();
    const widget = { ...custom.widget('a'), metadata: { name: 'a', labels: { a: 1 } } };
    const answer = await wire.create(custom.collection(await namespace()), widget);
    expect(answer.status).toBe(400);
    expect(answer.body.reason).toBe('BadRequest');
  });
});
