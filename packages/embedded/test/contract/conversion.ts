import { expect, topic } from './suite.ts';
import { serveReviews } from './webhook.ts';
import type { Answer, Body } from './wire.ts';
import { DEFINITIONS, definitionOf, eventually, type World } from './world.ts';

interface ConversionRequest {
  readonly uid: string;
  readonly desiredAPIVersion: string;
  readonly objects: readonly Body[];
}

type Convert = (request: ConversionRequest) => Readonly<Record<string, unknown>>;

/** `size` in v1 is `length` in v2: what a converter between them does. */
function rename({ desiredAPIVersion, objects }: ConversionRequest) {
  const [from, to] = desiredAPIVersion.endsWith('/v1') ? ['length', 'size'] : ['size', 'length'];
  const convertedObjects = objects.map((object) => ({
    ...object,
    apiVersion: desiredAPIVersion,
    spec: { [to]: object.spec[from] },
  }));
  return { result: { status: 'Success' }, convertedObjects };
}

/**
 * A read in a version that is converted. While it makes the storage of a new definition anew, the real server may leave such a
 * read without an answer for a minute; asked again, it answers at once.
 */
async function read({ wire }: Pick<World, 'wire'>, path: string, tries = 5): Promise<Answer> {
  try {
    return await wire.request('GET', path, { signal: AbortSignal.timeout(5_000) });
  } catch (error) {
    if (tries === 1) throw error;
    return read({ wire }, path, tries - 1);
  }
}

/** Widgets in two versions that a webhook converts; v1 is stored. */
async function convertedWidgets(world: World, convert: Convert) {
  const { wire } = world;
  const server = await serveReviews((review) => {
    const { request }: { request: ConversionRequest } = JSON.parse(review);
    return {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'ConversionReview',
      response: { uid: request.uid, ...convert(request) },
    };
  });
  const group = `${world.fresh('contract')}.example.com`;
  const definition: { spec: object } & Record<string, unknown> = JSON.parse(
    JSON.stringify(definitionOf(group, { versions: [{ name: 'v1' }, { name: 'v2' }] })),
  );
  const conversion = {
    strategy: 'Webhook',
    webhook: { clientConfig: { url: server.url, caBundle: server.caBundle }, conversionReviewVersions: ['v1'] },
  };
  await wire.must(wire.create(DEFINITIONS, { ...definition, spec: { ...definition.spec, conversion } }));
  const namespace = await world.namespace();
  const path = (version: string) => `/apis/${group}/${version}/namespaces/${namespace}/widgets`;
  await eventually('v1 is served', async () => (await read(world, path('v1'))).status === 200);
  return {
    path,
    widget: (name: string, version: string, spec: object) => ({
      apiVersion: `${group}/${version}`,
      kind: 'Widget',
      metadata: { name },
      spec,
    }),
    [Symbol.asyncDispose]: () => server.close(),
  };
}

export const conversion = topic('conversion webhooks', (promise) => {
  promise('give an object in the version that is asked for', async (world) => {
    const { wire } = world;
    await using widgets = await convertedWidgets(world, rename);
    await wire.must(wire.create(widgets.path('v1'), widgets.widget('a', 'v1', { size: 3 })));
    const { body } = await read(world, `${widgets.path('v2')}/a`);
    expect(body).toMatchObject({ apiVersion: expect.stringMatching(/\/v2$/), spec: { length: 3 } });
    expect(body.spec).not.toHaveProperty('size');
  });

  promise('take writes in the other version', async (world) => {
    const { wire } = world;
    await using widgets = await convertedWidgets(world, rename);
    await wire.must(wire.create(widgets.path('v2'), widgets.widget('a', 'v2', { length: 4 })));
    const { body } = await read(world, `${widgets.path('v1')}/a`);
    expect(body.spec).toEqual({ size: 4 });
    await wire.must(wire.patch('merge', `${widgets.path('v2')}/a`, { spec: { length: 5 } }));
    expect((await read(world, `${widgets.path('v1')}/a`)).body.spec).toEqual({ size: 5 });
  });

  promise('convert lists', async (world) => {
    const { wire } = world;
    await using widgets = await convertedWidgets(world, rename);
    for (const name of ['a', 'b']) {
      await wire.must(wire.create(widgets.path('v1'), widgets.widget(name, 'v1', { size: 1 })));
    }
    const { body } = await read(world, widgets.path('v2'));
    expect(body.items.map(({ spec }) => spec)).toEqual([{ length: 1 }, { length: 1 }]);
  });

  promise('that refuse make a write fail with their words', async (world) => {
    const { wire } = world;
    await using widgets = await convertedWidgets(world, () => ({
      result: { status: 'Failure', message: 'out of metric' },
      convertedObjects: [],
    }));
    // A write, because the real server keeps reads waiting until its cache could convert everything.
    const answer = await wire.create(widgets.path('v2'), widgets.widget('a', 'v2', { length: 3 }));
    expect(answer.status).toBe(500);
    expect(answer.body.message).toContain('out of metric');
  });
});
