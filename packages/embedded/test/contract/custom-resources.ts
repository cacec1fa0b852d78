import { expect, topic } from './suite.ts';
import { Watch } from './watch-reader.ts';
import { DEFINITIONS, definitionOf, eventually } from './world.ts';

const object = (properties: Readonly<Record<string, unknown>>, more: Readonly<Record<string, unknown>> = {}) => ({
  type: 'object',
  properties,
  ...more,
});

export const customResources = topic('custom resources', (promise) => {
  promise(
    'a definition is accepted, then established, and says under which names',
    async ({ wire, customResource }) => {
      const { definition } = await customResource({ names: { shortNames: ['wd'], categories: ['all'] } });
      const { body } = await wire.get(definition);
      expect(body.status).toMatchObject({
        acceptedNames: {
          plural: 'widgets',
          singular: 'widget',
          kind: 'Widget',
          listKind: 'WidgetList',
          shortNames: ['wd'],
          categories: ['all'],
        },
        storedVersions: ['v1'],
        conditions: expect.arrayContaining([
          expect.objectContaining({ type: 'NamesAccepted', status: 'True', reason: 'NoConflicts' }),
          expect.objectContaining({ type: 'Established', status: 'True', reason: 'InitialNamesAccepted' }),
        ]),
      });
    },
  );

  promise('a definition gets what it leaves out: singular, list kind, no conversion', async ({ wire, fresh }) => {
    const group = `${fresh('contract')}.example.com`;
    const definition = definitionOf(group, { names: { singular: undefined, listKind: undefined } });
    const made = await wire.must(wire.create(DEFINITIONS, definition));
    expect(made.spec).toMatchObject({
      names: { singular: 'widget', listKind: 'WidgetList' },
      conversion: { strategy: 'None' },
    });
  });

  promise('a definition must be named after its plural and group', async ({ wire, fresh }) => {
    const group = `${fresh('contract')}.example.com`;
    const answer = await wire.create(DEFINITIONS, { ...definitionOf(group), metadata: { name: 'other' } });
    expect(answer.status).toBe(422);
    expect(answer.body.details.causes[0]).toMatchObject({
      field: 'metadata.name',
      message: expect.stringContaining('must be spec.names.plural+"."+spec.group'),
    });
  });

  promise('a definition needs exactly one version that is stored', async ({ wire, fresh }) => {
    const group = `${fresh('contract')}.example.com`;
    const definition = definitionOf(group, { versions: [{ name: 'v1' }, { name: 'v2' }] });
    const twice = JSON.stringify(definition).replaceAll('"storage":false', '"storage":true');
    const answer = await wire.create(DEFINITIONS, twice);
    expect(answer.status).toBe(422);
    expect(answer.body.message).toContain('must have exactly one version marked as storage version');
  });

  for (const [what, spec, complaint] of [
    [
      'without a type',
      { properties: { size: { type: 'integer' } } },
      'Required value: must not be empty for specified object fields',
    ],
    ['with an unknown type', { type: 'thing' }, 'Unsupported value: "thing"'],
    [
      'with additionalProperties beside properties',
      object({ a: { type: 'string' } }, { additionalProperties: { type: 'string' } }),
      'Forbidden: additionalProperties and properties are mutual exclusive',
    ],
    [
      'with a default that is invalid',
      object({ size: { type: 'integer', default: 'x' } }),
      'Invalid value: "string": ',
    ],
    [
      'with a map list without keys',
      object({ l: { type: 'array', 'x-kubernetes-list-type': 'map', items: object({}) } }),
      'Required value: must not be empty if x-kubernetes-list-type is map',
    ],
    ['with items missing', object({ l: { type: 'array' } }), 'Required value: must be specified'],
    [
      'with uniqueItems',
      object({ l: { type: 'array', uniqueItems: true, items: { type: 'string' } } }),
      'Forbidden: uniqueItems cannot be set to true',
    ],
    [
      'with a CEL rule that does not compile',
      object({ a: { type: 'string' } }, { 'x-kubernetes-validations': [{ rule: 'self.b == 1' }] }),
      "undefined field 'b'",
    ],
    [
      'with types inside allOf',
      object({ a: { type: 'string', allOf: [{ type: 'string' }] } }),
      'Forbidden: must be empty to be structural',
    ],
  ] as const) {
    promise(`a schema ${what} is refused`, async ({ wire, fresh }) => {
      const answer = await wire.create(DEFINITIONS, definitionOf(`${fresh('contract')}.example.com`, { spec }));
      expect(answer.status).toBe(422);
      expect(answer.body.message).toContain(complaint);
    });
  }

  promise('have the verbs of any other kind', async ({ wire, namespace, customResource }) => {
    const custom = await customResource();
    const path = custom.collection(await namespace());
    const made = await wire.create(path, custom.widget('a', { spec: { size: 1 } }));
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({ apiVersion: custom.apiVersion, kind: 'Widget', metadata: { generation: 1 } });
    expect((await wire.create(path, custom.widget('a'))).body).toMatchObject({
      reason: 'AlreadyExists',
      message: `widgets.${custom.group} "a" already exists`,
      details: { name: 'a', group: custom.group, kind: 'widgets' },
    });
    expect((await wire.get(path)).body).toMatchObject({ kind: 'WidgetList', items: [{ kind: 'Widget' }] });
    const { resourceVersion } = made.body.metadata;
    await wire.must(
      wire.replace(`${path}/a`, {
        ...custom.widget('a', { spec: { size: 2 } }),
        metadata: { name: 'a', resourceVersion },
      }),
    );
    const patched = await wire.must(wire.patch('json', `${path}/a`, [{ op: 'replace', path: '/spec/size', value: 3 }]));
    expect(patched).toMatchObject({ spec: { size: 3 }, metadata: { generation: 3 } });
    expect((await wire.delete(`${path}/a`)).status).toBe(200);
    expect((await wire.get(`${path}/a`)).status).toBe(404);
  });

  promise('must be replaced with a version', async ({ wire, namespace, customResource }) => {
    const custom = await customResource();
    const path = custom.collection(await namespace());
    await wire.must(wire.create(path, custom.widget('a')));
    const answer = await wire.replace(`${path}/a`, custom.widget('a', { spec: { size: 2 } }));
    expect(answer.status).toBe(422);
    expect(answer.body.details.causes[0]).toMatchObject({
      field: 'metadata.resourceVersion',
      message: expect.stringContaining('must be specified for an update'),
    });
  });

  promise('must name their apiVersion and kind', async ({ wire, namespace, customResource }) => {
    const custom = await customResource();
    const answer = await wire.create(custom.collection(await namespace()), { metadata: { name: 'a' } });
    expect(answer.status).toBe(400);
    expect(answer.body.reason).toBe('BadRequest');
  });

  promise(
    'without a status subresource raise the generation with every change of content',
    async ({ wire, namespace, customResource }) => {
      const custom = await customResource();
      const path = custom.collection(await namespace());
      await wire.must(wire.create(path, custom.widget('a')));
      const labelled = await wire.must(wire.patch('merge', `${path}/a`, { metadata: { labels: { a: 'b' } } }));
      expect(labelled.metadata.generation).toBe(1);
      const changed = await wire.must(wire.patch('merge', `${path}/a`, { status: { ready: true } }));
      expect(changed.metadata.generation).toBe(2);
    },
  );

  promise('are watched like any other kind', async ({ wire, namespace, customResource }) => {
    const custom = await customResource();
    const path = custom.collection(await namespace());
    await using events = await Watch.open(wire, `${path}?watch=true`);
    await wire.must(wire.create(path, custom.widget('a')));
    await wire.must(wire.delete(`${path}/a`));
    await events.until(({ type }) => type === 'DELETED');
    expect(events.summary()).toEqual(['ADDED a', 'DELETED a']);
  });

  promise('can be cluster-wide', async ({ wire, customResource }) => {
    const custom = await customResource({ scope: 'Cluster' });
    const made = await wire.must(wire.create(custom.collection(''), custom.widget('a')));
    expect(made.metadata).not.toHaveProperty('namespace');
    expect((await wire.get(`${custom.collection('')}/a`)).status).toBe(200);
  });

  promise('are held to their schema, all complaints at once', async ({ wire, namespace, customResource }) => {
    const custom = await customResource({
      spec: object(
        {
          size: { type: 'integer', minimum: 1, maximum: 9 },
          name: { type: 'string', minLength: 2, maxLength: 4, pattern: '^[a-z]+$' },
          mode: { type: 'string', enum: ['fast', 'safe'] },
          list: { type: 'array', maxItems: 1, items: { type: 'string' } },
        },
        { required: ['size', 'mode'] },
      ),
    });
    const answer = await wire.create(
      custom.collection(await namespace()),
      custom.widget('a', { spec: { size: 10, name: 'X', list: ['a', 'b'] } }),
    );
    expect(answer.status).toBe(422);
    expect(answer.body.details).toMatchObject({ name: 'a', group: custom.group, kind: 'Widget' });
    const causes = answer.body.details.causes.map(({ field, message }) => `${field}: ${message}`).toSorted();
    expect(causes).toEqual([
      'spec.list: Too many: 2: must have at most 1 item',
      'spec.mode: Required value',
      'spec.name: Invalid value: "X": spec.name in body should be at least 2 chars long',
      'spec.size: Invalid value: 10: spec.size in body should be less than or equal to 9',
    ]);
  });

  promise('with a wrong type are told the type that is wanted', async ({ wire, namespace, customResource }) => {
    const custom = await customResource({
      spec: object({ size: { type: 'integer' }, mode: { type: 'string', enum: ['a'] } }),
    });
    const answer = await wire.create(
      custom.collection(await namespace()),
      custom.widget('a', { spec: { size: 'big', mode: 'b' } }),
    );
    expect(answer.body.details.causes.toSorted((a, b) => a.field.localeCompare(b.field))).toEqual([
      {
        reason: 'FieldValueNotSupported',
        message: 'Unsupported value: "b": supported values: "a"',
        field: 'spec.mode',
      },
      {
        reason: 'FieldValueTypeInvalid',
        message: 'Invalid value: "string": spec.size in body must be of type integer: "string"',
        field: 'spec.size',
      },
    ]);
  });

  promise('lose the fields that their schema does not know', async ({ wire, namespace, customResource }) => {
    const custom = await customResource({
      spec: object({
        size: { type: 'integer' },
        free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        map: { type: 'object', additionalProperties: object({ a: { type: 'string' } }) },
        either: { 'x-kubernetes-int-or-string': true },
      }),
    });
    const made = await wire.must(
      wire.create(
        custom.collection(await namespace()),
        custom.widget('a', {
          spec: { size: 1, bogus: 2, free: { any: { thing: 1 } }, map: { k: { a: 'x', b: 'y' } }, either: '25%' },
          extra: 1,
        }),
      ),
    );
    expect(made.spec).toEqual({ size: 1, free: { any: { thing: 1 } }, map: { k: { a: 'x' } }, either: '25%' });
    expect(made).not.toHaveProperty('extra');
  });

  promise(
    'are filled with the defaults of their schema, also inside lists',
    async ({ wire, namespace, customResource }) => {
      const custom = await customResource({
        spec: object({
          size: { type: 'integer', default: 3 },
          nested: object({ mode: { type: 'string', default: 'safe' } }, { default: {} }),
          optional: object({ mode: { type: 'string', default: 'safe' } }),
          list: { type: 'array', items: object({ name: { type: 'string' }, port: { type: 'integer', default: 80 } }) },
        }),
      });
      const path = custom.collection(await namespace());
      const made = await wire.must(wire.create(path, custom.widget('a', { spec: { list: [{ name: 'x' }] } })));
      expect(made.spec).toEqual({ size: 3, nested: { mode: 'safe' }, list: [{ name: 'x', port: 80 }] });
    },
  );

  promise('default a null away, unless the field may be null', async ({ wire, namespace, customResource }) => {
    const custom = await customResource({
      spec: object({
        size: { type: 'integer', default: 3 },
        empty: { type: 'string', nullable: true },
        plain: { type: 'string' },
      }),
    });
    const made = await wire.create(
      custom.collection(await namespace()),
      custom.widget('a', { spec: { size: null, empty: null } }),
    );
    expect(made.status).toBe(201);
    expect(made.body.spec).toEqual({ size: 3, empty: null });
  });

  promise('keep sets and map lists free of doubles', async ({ wire, namespace, customResource }) => {
    const custom = await customResource({
      spec: object({
        tags: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
        items: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['id'],
          items: object({ id: { type: 'string' } }, { required: ['id'] }),
        },
      }),
    });
    const answer = await wire.create(
      custom.collection(await namespace()),
      custom.widget('a', { spec: { tags: ['a', 'a'], items: [{ id: 'x' }, { id: 'x' }] } }),
    );
    expect(answer.status).toBe(422);
    const fields = answer.body.details.causes.map(({ field, reason }) => `${field} ${reason}`).toSorted();
    expect(fields).toEqual(['spec.items[1] FieldValueDuplicate', 'spec.tags[1] FieldValueDuplicate']);
  });

  promise(
    'are served in several versions, each under its own apiVersion',
    async ({ wire, namespace, customResource }) => {
      const custom = await customResource({ versions: [{ name: 'v1' }, { name: 'v1beta1' }] });
      const ns = await namespace();
      await wire.must(wire.create(custom.collection(ns), custom.widget('a', { spec: { size: 1 } })));
      const old = (await wire.get(`${custom.collection(ns, 'v1beta1')}/a`)).body;
      expect(old).toMatchObject({ apiVersion: `${custom.group}/v1beta1`, spec: { size: 1 } });
    },
  );

  promise('in a version that is not served are not found', async ({ wire, namespace, customResource }) => {
    const custom = await customResource({ versions: [{ name: 'v1' }, { name: 'v0', served: false }] });
    const answer = await wire.get(custom.collection(await namespace(), 'v0'));
    expect(answer.status).toBe(404);
  });

  promise('in a deprecated version come with a warning', async ({ wire, namespace, customResource }) => {
    const custom = await customResource({ versions: [{ name: 'v1' }, { name: 'v0', deprecated: true }] });
    const answer = await wire.get(custom.collection(await namespace(), 'v0'));
    expect(answer.headers['warning']).toBe(
      `299 - "${custom.group}/v0 Widget is deprecated; use ${custom.group}/v1 Widget"`,
    );
  });

  promise('are selected by the fields that their definition opens', async ({ wire, namespace, customResource }) => {
    const custom = await customResource({
      spec: object({ color: { type: 'string' } }),
      selectableFields: [{ jsonPath: '.spec.color' }],
    });
    const path = custom.collection(await namespace());
    await wire.must(wire.create(path, custom.widget('red', { spec: { color: 'red' } })));
    await wire.must(wire.create(path, custom.widget('blue', { spec: { color: 'blue' } })));
    const { body } = await wire.get(`${path}?fieldSelector=spec.color%3Dred`);
    expect(body.items.map(({ metadata }) => metadata.name)).toEqual(['red']);
  });

  promise('take up a changed schema', async ({ wire, namespace, customResource }) => {
    const custom = await customResource({ spec: object({ size: { type: 'integer' } }) });
    const path = custom.collection(await namespace());
    await wire.must(
      wire.patch('json', custom.definition, [
        {
          op: 'add',
          path: '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/size/maximum',
          value: 5,
        },
      ]),
    );
    await eventually('the new limit holds', async () => {
      const answer = await wire.create(`${path}?dryRun=All`, custom.widget('a', { spec: { size: 6 } }));
      return answer.status === 422;
    });
    await wire.must(wire.create(path, custom.widget('a', { spec: { size: 5 } })));
  });

  promise('go with their definition', async ({ wire, namespace, customResource }) => {
    const custom = await customResource();
    const path = custom.collection(await namespace());
    await wire.must(wire.create(path, custom.widget('a')));
    const marked = await wire.must(wire.delete(custom.definition));
    expect(marked.metadata.finalizers).toEqual(['customresourcecleanup.apiextensions.k8s.io']);
    await eventually('the definition is gone', async () => (await wire.get(custom.definition)).status === 404);
    await eventually('the path is gone', async () => (await wire.get(path)).status === 404);
  });

  promise('a second definition of the same names is not accepted', async ({ wire, customResource }) => {
    const custom = await customResource({ names: { shortNames: ['wd'] } });
    const rival = {
      ...definitionOf(custom.group, { names: { plural: 'gadgets', singular: 'gadget' } }),
      metadata: { name: `gadgets.${custom.group}` },
    };
    await wire.must(wire.create(DEFINITIONS, rival));
    await eventually('the names are refused', async () => {
      const { text } = await wire.get(`${DEFINITIONS}/gadgets.${custom.group}`);
      return text.includes('"reason":"KindConflict"') || text.includes('"reason":"ListKindConflict"');
    });
    expect((await wire.get(`/apis/${custom.group}/v1/gadgets`)).status).toBe(404);
  });
});
