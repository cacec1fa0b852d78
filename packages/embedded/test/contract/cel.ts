import { expect, topic } from './suite.ts';
import type { Wire } from './wire.ts';
import { type CustomResource, eventually, type World } from './world.ts';

type Fields = Readonly<Record<string, unknown>>;

const rules = (properties: Fields, validations: readonly Fields[], more: Fields = {}) => ({
  spec: { type: 'object', properties, 'x-kubernetes-validations': validations, ...more },
});

async function place({ customResource, namespace }: World, options: Parameters<World['customResource']>[0]) {
  const custom = await customResource(options);
  return { custom, path: custom.collection(await namespace()) };
}

const make = (wire: Wire, custom: CustomResource, path: string, spec: Fields) =>
  wire.create(path, custom.widget('a', { spec }));

export const cel = topic('rules (CEL)', (promise) => {
  promise('refuse with their message, at the place they stand', async (world) => {
    const { custom, path } = await place(
      world,
      rules({ min: { type: 'integer' }, max: { type: 'integer' } }, [
        { rule: 'self.min <= self.max', message: 'min must not exceed max' },
      ]),
    );
    const answer = await make(world.wire, custom, path, { min: 5, max: 1 });
    expect(answer.status).toBe(422);
    expect(answer.body.message).toBe(
      `Widget.${custom.group} "a" is invalid: spec: Invalid value: min must not exceed max`,
    );
    expect(answer.body.details.causes).toEqual([
      { reason: 'FieldValueInvalid', message: 'Invalid value: min must not exceed max', field: 'spec' },
    ]);
    expect((await make(world.wire, custom, path, { min: 1, max: 5 })).status).toBe(201);
  });

  promise('without a message show the rule', async (world) => {
    const { custom, path } = await place(world, rules({ size: { type: 'integer' } }, [{ rule: 'self.size < 10' }]));
    const answer = await make(world.wire, custom, path, { size: 10 });
    expect(answer.body.details.causes[0]?.message).toBe('Invalid value: failed rule: self.size < 10');
  });

  promise('make their message by an expression', async (world) => {
    const { custom, path } = await place(
      world,
      rules({ size: { type: 'integer' }, unit: { type: 'string', maxLength: 9 } }, [
        { rule: 'self.size < 10', messageExpression: "'at most 10 ' + self.unit" },
      ]),
    );
    const answer = await make(world.wire, custom, path, { size: 12, unit: 'apples' });
    expect(answer.body.details.causes[0]?.message).toBe('Invalid value: at most 10 apples');
  });

  promise('point to a field and give a reason when told so', async (world) => {
    const { custom, path } = await place(
      world,
      rules({ size: { type: 'integer' } }, [
        { rule: 'self.size < 10', message: 'too big', reason: 'FieldValueForbidden', fieldPath: '.size' },
      ]),
    );
    const answer = await make(world.wire, custom, path, { size: 12 });
    expect(answer.body.details.causes).toEqual([
      { reason: 'FieldValueForbidden', message: 'Forbidden: too big', field: 'spec.size' },
    ]);
  });

  promise('are not run until the schema holds', async (world) => {
    const { custom, path } = await place(
      world,
      rules({ size: { type: 'integer' }, mode: { type: 'string', enum: ['a'] } }, [
        { rule: 'self.size < 10', message: 'too big' },
      ]),
    );
    const answer = await make(world.wire, custom, path, { size: 12, mode: 'b' });
    expect(answer.body.message).not.toContain('too big');
  });

  promise('of transition compare with the old object, and rest on create', async (world) => {
    const { custom, path } = await place(
      world,
      rules({ size: { type: 'integer' } }, [{ rule: 'self.size >= oldSelf.size', message: 'cannot shrink' }]),
    );
    await world.wire.must(make(world.wire, custom, path, { size: 3 }));
    await world.wire.must(world.wire.patch('merge', `${path}/a`, { spec: { size: 4 } }));
    const answer = await world.wire.patch('merge', `${path}/a`, { spec: { size: 2 } });
    expect(answer.status).toBe(422);
    expect(answer.body.details.causes[0]?.message).toBe('Invalid value: cannot shrink');
  });

  promise('make a field immutable', async (world) => {
    const { custom, path } = await place(world, {
      spec: {
        type: 'object',
        properties: {
          name: { type: 'string', 'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'is immutable' }] },
          other: { type: 'string' },
        },
      },
    });
    await world.wire.must(make(world.wire, custom, path, { name: 'x' }));
    await world.wire.must(world.wire.patch('merge', `${path}/a`, { spec: { other: 'y' } }));
    const answer = await world.wire.patch('merge', `${path}/a`, { spec: { name: 'z' } });
    expect(answer.body.details.causes).toEqual([
      { reason: 'FieldValueInvalid', message: 'Invalid value: "z": is immutable', field: 'spec.name' },
    ]);
  });

  promise('with optionalOldSelf run on create too', async (world) => {
    const { custom, path } = await place(
      world,
      rules({ size: { type: 'integer' } }, [
        {
          rule: 'oldSelf.hasValue() || self.size == 0',
          message: 'begins at 0',
          optionalOldSelf: true,
        },
      ]),
    );
    expect((await make(world.wire, custom, path, { size: 1 })).status).toBe(422);
    expect((await make(world.wire, custom, path, { size: 0 })).status).toBe(201);
  });

  promise('see which optional fields are there', async (world) => {
    const { custom, path } = await place(
      world,
      rules({ a: { type: 'string' }, b: { type: 'string' } }, [
        { rule: 'has(self.a) != has(self.b)', message: 'exactly one of a and b' },
      ]),
    );
    expect((await make(world.wire, custom, path, { a: 'x', b: 'y' })).status).toBe(422);
    expect((await make(world.wire, custom, path, { a: 'x' })).status).toBe(201);
  });

  promise('look into lists and maps', async (world) => {
    const { custom, path } = await place(
      world,
      rules(
        {
          ports: { type: 'array', maxItems: 9, items: { type: 'integer' } },
          labels: { type: 'object', maxProperties: 9, additionalProperties: { type: 'string', maxLength: 9 } },
        },
        [
          { rule: 'self.ports.all(p, p > 1024)', message: 'no privileged ports' },
          { rule: "self.labels.exists(k, k == 'app')", message: 'needs the label app' },
        ],
      ),
    );
    const answer = await make(world.wire, custom, path, { ports: [80, 8080], labels: { tier: 'x' } });
    expect(answer.body.details.causes.map(({ message }) => message).toSorted()).toEqual([
      'Invalid value: needs the label app',
      'Invalid value: no privileged ports',
    ]);
    expect((await make(world.wire, custom, path, { ports: [8080], labels: { app: 'x' } })).status).toBe(201);
  });

  promise('on the items of a list name the item', async (world) => {
    const { custom, path } = await place(world, {
      spec: {
        type: 'object',
        properties: {
          list: {
            type: 'array',
            maxItems: 5,
            items: {
              type: 'integer',
              'x-kubernetes-validations': [{ rule: 'self % 2 == 0', message: 'must be even' }],
            },
          },
        },
      },
    });
    const answer = await make(world.wire, custom, path, { list: [2, 3] });
    expect(answer.body.details.causes[0]).toMatchObject({
      field: 'spec.list[1]',
      message: 'Invalid value: 3: must be even',
    });
  });

  promise('at the root see the name of the object', async (world) => {
    const { custom, path } = await place(world, {
      root: {
        'x-kubernetes-validations': [
          { rule: "self.metadata.name.startsWith('w-')", message: 'the name begins with w-' },
        ],
      },
    });
    const answer = await make(world.wire, custom, path, {});
    expect(answer.body.details.causes[0]).toMatchObject({ message: 'Invalid value: the name begins with w-' });
    expect((await world.wire.create(path, custom.widget('w-1'))).status).toBe(201);
  });

  for (const [what, rule, bad, good] of [
    ['quantities', "quantity(self.v).isLessThan(quantity('1Gi'))", '2Gi', '512Mi'],
    ['durations', "duration(self.v) <= duration('1h')", '2h', '30m'],
    ['patterns', "self.v.matches('^[a-z]+$')", 'A1', 'abc'],
    ['addresses', 'ip(self.v).family() == 4', '::1', '10.0.0.1'],
    ['networks', "cidr('10.0.0.0/8').containsIP(ip(self.v))", '192.168.0.1', '10.1.2.3'],
    ['URLs', "isURL(self.v) && url(self.v).getScheme() == 'https'", 'http://a.example.com', 'https://a.example.com'],
    ['splitting', "self.v.split(',').size() == 2", 'a', 'a,b'],
    ['semantic versions', "semver(self.v).isGreaterThan(semver('1.2.0'))", '1.1.9', '1.3.0'],
    ['sets', "sets.contains(['a', 'b'], [self.v])", 'c', 'a'],
    ['formats', '!format.dns1123Label().validate(self.v).hasValue()', 'No', 'yes'],
  ] as const) {
    promise(`know ${what}: ${rule}`, async (world) => {
      const { custom, path } = await place(world, rules({ v: { type: 'string', maxLength: 64 } }, [{ rule }]));
      expect((await make(world.wire, custom, path, { v: bad })).status).toBe(422);
      expect((await make(world.wire, custom, path, { v: good })).status).toBe(201);
    });
  }

  promise('that fail while running refuse the object', async (world) => {
    const { custom, path } = await place(
      world,
      rules({ v: { type: 'string', maxLength: 9 } }, [{ rule: 'int(self.v) > 0', message: 'positive' }]),
    );
    const answer = await make(world.wire, custom, path, { v: 'x' });
    expect(answer.status).toBe(422);
  });

  promise('let old objects that break a new rule change elsewhere', async (world) => {
    const { wire } = world;
    const { custom, path } = await place(world, {
      spec: { type: 'object', properties: { size: { type: 'integer' }, other: { type: 'string' } } },
    });
    await wire.must(make(wire, custom, path, { size: 50 }));
    await wire.must(
      wire.patch('json', custom.definition, [
        {
          op: 'add',
          path: '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/size/maximum',
          value: 10,
        },
      ]),
    );
    const refused = async () =>
      (await wire.create(`${path}?dryRun=All`, custom.widget('b', { spec: { size: 11 } }))).status;
    await eventually('the new limit holds', async () => (await refused()) === 422);
    const changed = await wire.patch('merge', `${path}/a`, { spec: { other: 'x' } });
    expect(changed.status).toBe(200);
    const worse = await wire.patch('merge', `${path}/a`, { spec: { size: 51 } });
    expect(worse.status).toBe(422);
  });
});
