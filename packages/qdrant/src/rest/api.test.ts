import { Client, type Transport, type TransportResponse } from '@polder/kube';
import { beforeEach, describe, expect, test } from 'vitest';
import { apiWorld, TOKEN } from '../../test/api-world.ts';
import { endpoints } from './endpoints.ts';

const world = await apiWorld();
beforeEach(async () => {
  await world.reset();
});

const JSON_TYPE = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
const aCollection = { name: 'products', cluster: 'vectors', vectors: { size: 4 } };
const create = (body: unknown = aCollection) => world.call('POST', '/api/v1/collections', body);

describe('who calls', () => {
  test.each(endpoints.map(({ method, path }) => [method, path] as const))(
    'has to know the token: %s %s',
    async (method, path) => {
      const at = `/api/v1${path.replace(':name', 'products')}`;
      const body = method === 'POST' ? {} : undefined;
      expect(await world.call(method, at, body, {})).toMatchObject({
        status: 401,
        body: { error: 'Unauthorized', message: 'Missing Authorization header' },
      });
      expect((await world.call(method, at, body)).status).not.toBe(401);
    },
  );

  test.each([`Bearer ${TOKEN}`, `Token ${TOKEN}`, `bearer ${TOKEN}`, `TOKEN   ${TOKEN}`])(
    'is known by %s',
    async (authorization) => {
      expect((await world.call('GET', '/api/v1/collections', undefined, { authorization })).status).toBe(200);
    },
  );

  test.each([
    ['Basic dXNlcjpwYXNz', 'Invalid Authorization format. Use "Bearer <token>" or "Token <token>"'],
    [TOKEN, 'Invalid Authorization format. Use "Bearer <token>" or "Token <token>"'],
    ['Bearer', 'Invalid Authorization format. Use "Bearer <token>" or "Token <token>"'],
    ['Bearer wrong', 'Invalid token'],
    [`Bearer ${TOKEN}x`, 'Invalid token'],
    [`Bearer ${TOKEN.slice(0, -1)}`, 'Invalid token'],
    [`Bearer ${TOKEN.toUpperCase()}`, 'Invalid token'],
  ])('is told what is wrong with %s', async (authorization, message) => {
    const answer = await world.call('GET', '/api/v1/collections', undefined, { authorization });
    expect(answer).toMatchObject({ status: 401, body: { error: 'Unauthorized', message } });
  });

  test('may ask for its health without a token', async () => {
    expect(await world.call('GET', '/health', undefined, {})).toMatchObject({
      status: 200,
      body: { status: 'ok', service: 'api' },
    });
  });
});

describe('a browser', () => {
  test('may call from any page, and asks first without a token', async () => {
    const { status, body, headers } = await world.call('OPTIONS', '/api/v1/collections', undefined, {});
    expect({ status, body }).toEqual({ status: 200, body: undefined });
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(headers.get('access-control-allow-methods')).toBe('GET, POST, PUT, DELETE, OPTIONS');
    expect(headers.get('access-control-allow-headers')).toBe('Content-Type, Authorization');
  });

  test.each([
    ['GET', '/health'],
    ['GET', '/api/v1/collections'],
    ['GET', '/nowhere'],
    ['POST', '/api/v1/collections'],
  ])('may read every answer: %s %s', async (method, path) => {
    const { headers } = await world.call(method, path, undefined);
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(headers.has('access-control-allow-credentials')).toBe(false);
  });
});

describe('a path that is not there', () => {
  test.each([
    ['GET', '/'],
    ['GET', '/api/v1/nothing'],
    ['GET', '/api/v1/backups/products'],
    ['PUT', '/api/v1/collections/products'],
    ['DELETE', '/api/v1/templates/small'],
    ['POST', '/health'],
  ])('is said to be so: %s %s', async (method, path) => {
    expect(await world.call(method, path)).toMatchObject({ status: 404, body: { error: 'Not found', path } });
  });

  test('may have a slash too many at its end', async () => {
    expect((await world.call('GET', '/api/v1/collections/')).status).toBe(200);
  });
});

describe('a body', () => {
  const post = (body: string, type: string | undefined = 'application/json') =>
    world.call('POST', '/api/v1/collections', body, {
      authorization: `Bearer ${TOKEN}`,
      ...(type !== undefined && { 'content-type': type }),
    });

  test.each(['{', '{"name":}', 'name=products', '\u0000', '"unfinished'])(
    'that is no JSON is refused: %j',
    async (body) => {
      expect(await post(body)).toMatchObject({
        status: 400,
        body: { error: 'Invalid JSON', message: 'the body can not be read as JSON' },
      });
    },
  );

  test.each(['[]', 'null', '7', '"text"', 'true'])('that is no object is refused: %j', async (body) => {
    expect(await post(body)).toMatchObject({
      status: 400,
      body: { error: 'Invalid JSON', message: 'the body must be an object' },
    });
  });

  test('that is missing lacks what is required', async () => {
    expect(await world.call('POST', '/api/v1/collections')).toMatchObject({
      status: 400,
      body: { error: 'Validation failed', details: expect.arrayContaining(['name is required']) },
    });
  });

  test.each(['application/json; charset=utf-8', 'Application/JSON', 'application/merge-patch+json'])(
    'may be called %s',
    async (type) => {
      expect((await post(JSON.stringify(aCollection), type)).status).toBe(201);
    },
  );

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/jsonx', 'multipart/form-data'])(
    'must not be called %s',
    async (type) => {
      expect(await post(JSON.stringify(aCollection), type)).toMatchObject({
        status: 415,
        body: { error: 'Unsupported media type', message: 'send application/json' },
      });
    },
  );

  test.each(['/collections', '/templates', '/restore/collections/products'])('has its limits at %s', async (path) => {
    const large = { name: 'x'.repeat(64 * 1024) };
    const tooLarge = { status: 413, body: { error: 'Payload too large', message: 'a body has at most 64 KiB' } };
    expect(await world.call('POST', `/api/v1${path}`, large)).toMatchObject(tooLarge);
    const declared = { ...JSON_TYPE, 'content-length': '65537' };
    expect(await world.call('POST', `/api/v1${path}`, '{}', declared)).toMatchObject(tooLarge);
  });
});

describe('a namespace', () => {
  test('is default unless another one is named', async () => {
    await create();
    const inDefault = { body: { count: 1 } };
    expect(await world.call('GET', '/api/v1/collections')).toMatchObject(inDefault);
    expect(await world.call('GET', '/api/v1/collections?namespace=')).toMatchObject(inDefault);
    expect(await world.call('GET', '/api/v1/collections?namespace=default')).toMatchObject(inDefault);
    expect(await world.call('GET', '/api/v1/collections?namespace=kube-system')).toMatchObject({ body: { count: 0 } });
  });

  test('that is not there is said to be so', async () => {
    expect(await world.call('POST', '/api/v1/collections?namespace=nowhere', aCollection)).toMatchObject({
      status: 404,
      body: { error: 'Namespace not found', name: 'nowhere' },
    });
  });

  test.each(['..', 'a/b', 'A', 'default/../kube-system', '%'])('can not be called %s', async (name) => {
    expect(await world.call('GET', `/api/v1/collections?namespace=${encodeURIComponent(name)}`)).toMatchObject({
      status: 400,
      body: { error: 'Validation failed', details: [`namespace is ${JSON.stringify(name)}, which is no name of one`] },
    });
  });

  test('that the operator does not look after is refused, and those that it does are named', async () => {
    const call = world.callerWith({ namespaces: ['shop', 'archive'] });
    expect(await call('GET', '/api/v1/collections')).toMatchObject({
      status: 403,
      body: {
        error: 'Forbidden',
        message: 'the operator does not look after the namespace default; name one of: shop, archive',
      },
    });
    expect((await call('GET', '/api/v1/collections?namespace=shop')).status).toBe(200);
    expect((await call('GET', '/api/v1/templates')).status).toBe(200);
  });
});

test.each(['../..', 'a/b', 'A', 'a_b', 'x'.repeat(254), '%00', '-a'])(
  'a name that nothing can have is not looked for: %s',
  async (name) => {
    const asked: string[] = [];
    const inner = world.server.transport();
    const request: Transport['request'] = (one) => {
      asked.push(one.path);
      return inner.request(one);
    };
    const client = new Client({ transport: { ...inner, request }, userAgent: 'test' });
    const call = world.callerWith({ client });
    for (const [method, at] of [
      ['GET', 'collections'],
      ['DELETE', 'collections'],
      ['GET', 'templates'],
      ['GET', 'backups/collections'],
    ] as const) {
      expect((await call(method, `/api/v1/${at}/${encodeURIComponent(name)}`)).status).toBe(404);
    }
    // In a path it might lead elsewhere.
    expect(asked.filter((path) => !/\/qdrantcollectionbackups\?/.test(path))).toEqual([]);
  },
);

describe('what the API server refuses', () => {
  /** Answers everything with this status. */
  const answering = (status: number, message: string, reason: string): Transport => ({
    request: async () =>
      response(status, JSON.stringify({ kind: 'Status', status: 'Failure', message, reason, code: status })),
    close: async () => {},
  });
  const response = (status: number, text: string): TransportResponse => ({
    status,
    headers: {},
    text: async () => text,
    chunks: async function* () {},
    discard: async () => {},
  });
  const refused = (status: number, message: string, reason: string) =>
    world.callerWith({ client: new Client({ transport: answering(status, message, reason), userAgent: 'test' }) });
  const FORBIDDEN =
    'qdrantcollections.qdrant.operator is forbidden: User "system:serviceaccount:ops:polder" cannot list resource "qdrantcollections" in API group "qdrant.operator" in the namespace "default"';

  test('because the operator has not the right to it, is told without saying who the operator is', async () => {
    const call = refused(403, FORBIDDEN, 'Forbidden');
    expect(await call('GET', '/api/v1/collections')).toMatchObject({
      status: 403,
      body: {
        error: 'Forbidden',
        message: 'the operator is not allowed to list collections; its role has to allow it',
      },
    });
    expect(world.log.join('\n')).toContain('system:serviceaccount:ops:polder');
  });

  test('because of a quota or a policy, is told in its words', async () => {
    const words = 'qdrantcollections.qdrant.operator "products" is forbidden: exceeded quota: collections';
    const call = refused(403, words, 'Forbidden');
    const answer = await call('POST', '/api/v1/collections', aCollection);
    expect(answer).toMatchObject({ status: 403, body: { error: 'Forbidden', message: words } });
  });

  test('because it is no valid object, is told field by field', async () => {
    expect(await create({ ...aCollection, name: '-products' })).toMatchObject({
      status: 400,
      body: { error: 'Validation failed', details: [expect.stringContaining('metadata.name: Invalid value')] },
    });
  });

  test('because it is not well, is a failure that tells no more than that', async () => {
    const call = refused(500, 'etcdserver: 10.0.0.7:2379 request timed out', 'InternalError');
    expect(await call('POST', '/api/v1/collections', aCollection)).toMatchObject({
      status: 500,
      body: { error: 'Failed to create collection', message: 'the API server answered 500' },
    });
    expect(world.log.join('\n')).toContain('etcdserver: 10.0.0.7:2379');
  });

  test('because the kinds are not installed, is told with the way to install them', async () => {
    const { call } = await apiWorld([]);
    const message = 'the cluster does not have the kind: polder crds | kubectl apply -f -';
    for (const [method, path, task] of [
      ['GET', 'collections', 'list collections'],
      ['GET', 'collections/products', 'get collection'],
      ['DELETE', 'collections/products', 'delete collection'],
      ['POST', 'collections', 'create collection'],
    ] as const) {
      const body = method === 'POST' ? aCollection : undefined;
      expect(await call(method, `/api/v1/${path}`, body)).toMatchObject({
        status: 500,
        body: { error: `Failed to ${task}`, message },
      });
    }
  });
});

describe('an API server that does not answer', () => {
  test('is not waited for for ever', async () => {
    world.server.faults.on({ plural: 'qdrantcollections' }, { do: 'silence' });
    const answer = world.call('GET', '/api/v1/collections');
    await world.clock.advance(10_000);
    expect(await answer).toMatchObject({
      status: 500,
      body: { error: 'Failed to list collections', message: 'the API server did not answer in time' },
    });
  });

  test('is said to be away', async () => {
    world.server.faults.on({ plural: 'qdrantcollections' }, { do: 'reset' });
    expect(await create()).toMatchObject({
      status: 500,
      body: { error: 'Failed to create collection', message: 'the API server could not be reached' },
    });
  });
});

test('neither an answer nor the log ever has the token in it', async () => {
  const answers = [
    await world.call('GET', '/api/v1/collections', undefined, { authorization: `Bearer ${TOKEN} x` }),
    await create({ ...aCollection, name: '-' }),
  ];
  world.server.faults.on({ verb: 'create' }, { do: 'fail', when: 'before' });
  answers.push(await create());
  expect(JSON.stringify(answers.map(({ body }) => body))).not.toContain(TOKEN);
  expect(world.log.join('\n')).not.toContain(TOKEN);
});
