import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Clock } from '../clock.ts';
import { SchemaRegistry } from './schema-registry.ts';

/** Answers are taken from here, in order; the last one stays. */
let answers: { readonly status: number; readonly body?: unknown }[] = [];
const asked: { readonly path: string | undefined; readonly accept: string | undefined; readonly user: string }[] = [];
/** What is registered under a path comes first. */
let registered: Readonly<Record<string, object>> = {};
let server: Server;
let url = '';

beforeAll(async () => {
  server = createServer(({ url: path, headers }, response) => {
    const user = Buffer.from(headers.authorization?.replace('Basic ', '') ?? '', 'base64').toString();
    asked.push({ path, accept: headers.accept, user });
    const found = registered[path ?? ''];
    if (found) return void response.end(JSON.stringify(found));
    const { status, body } = (answers.length > 1 ? answers.shift() : answers[0]) ?? { status: 500 };
    response.writeHead(status).end(JSON.stringify(body ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
});

afterAll(() => new Promise((resolve) => server.close(resolve)));

beforeEach(() => {
  asked.length = 0;
  said.length = 0;
  registered = {};
});

/** Time that passes at once. */
const clock: Clock = {
  now: () => 0,
  monotonic: () => 0,
  after(_ms, callback) {
    const handle = setImmediate(callback);
    return { cancel: () => clearImmediate(handle) };
  },
};

const said: string[] = [];
const say = (fields: object, message: string) => void said.push(message + JSON.stringify(fields));

const registry = (path = '') =>
  new SchemaRegistry({
    url: `${url}${path}`,
    basicAuth: { username: 'reader', password: 'hush' },
    clock,
    random: () => 0.5,
    log: { debug: say, info: say, warn: say, error: say },
  });

const { signal } = new AbortController();

test('it is asked as Confluent wants it', async () => {
  answers = [{ status: 200, body: { schema: '"string"' } }];
  expect(await registry('/base/').lookUp(12, signal)).toEqual({ found: true, schema: '"string"', references: [] });
  expect(asked).toEqual([
    { path: '/base/schemas/ids/12', accept: 'application/vnd.schemaregistry.v1+json', user: 'reader:hush' },
  ]);
});

test('what it does not answer is asked again, and not said of the message', async () => {
  answers = [{ status: 503 }, { status: 429 }, { status: 200 }, { status: 200, body: { schema: '"int"' } }];
  expect(await registry().lookUp(1, signal)).toEqual({ found: true, schema: '"int"', references: [] });
  expect(asked).toHaveLength(4);
  expect(said.join('\n')).not.toContain('hush');
});

test('asking again ends when nobody wants to know any more', async () => {
  answers = [{ status: 503 }];
  const asking = new AbortController();
  const answer = registry().lookUp(1, asking.signal);
  asking.abort(new Error('stopped'));
  await expect(answer).rejects.toThrow('stopped');
});

test.for([
  [{ status: 404 }, 'the schema registry does not know schema 5'],
  [{ status: 200, body: { schema: '{}', schemaType: 'PROTOBUF' } }, 'schema 5 of the registry is PROTOBUF, not Avro'],
  [
    { status: 200, body: { schema: '{}', references: [{ name: 'a' }] } },
    'schema 5 of the registry has references without a name, a subject or a version',
  ],
] as const)('%j is said of the message', async ([answer, because]) => {
  answers = [answer];
  expect(await registry().lookUp(5, signal)).toEqual({ found: false, because });
});

describe('references', () => {
  const to = (name: string, version = 1) => ({ name, subject: `${name}-value`, version });
  const found = (schema: string, ...references: readonly object[]) => ({ schema, references });
  const paths = () => asked.map(({ path }) => path);

  test('are gathered, each once and behind what it refers to itself', async () => {
    registered = {
      '/schemas/ids/5': found('order', to('Customer', 3), to('Money')),
      '/subjects/Customer-value/versions/3': found('customer', to('Address'), to('Money')),
      '/subjects/Address-value/versions/1': found('address'),
      '/subjects/Money-value/versions/1': found('money', { name: 'Currency', subject: 'a/b c', version: 2 }),
      '/subjects/a%2Fb%20c/versions/2': found('currency'),
    };
    expect(await registry().lookUp(5, signal)).toEqual({
      found: true,
      schema: 'order',
      references: ['address', 'currency', 'money', 'customer'],
    });
    expect(paths()).toHaveLength(5);
  });

  test('that lead back to where they came from do not go on for ever', async () => {
    registered = {
      '/schemas/ids/5': found('a', to('B')),
      '/subjects/B-value/versions/1': found('b', to('C')),
      '/subjects/C-value/versions/1': found('c', to('B')),
    };
    expect(await registry().lookUp(5, signal)).toMatchObject({ references: ['c', 'b'] });
  });

  test('are asked for again while the registry is away', async () => {
    registered = { '/schemas/ids/5': found('a', to('B')) };
    answers = [{ status: 503 }, { status: 200, body: found('b') }];
    expect(await registry().lookUp(5, signal)).toMatchObject({ references: ['b'] });
    expect(said.join()).toContain('"subject":"B-value","version":1');
  });

  test('that are too many, unknown or no Avro are said of the message', async () => {
    registered = { '/schemas/ids/5': found('a', to('B', 7)) };
    answers = [{ status: 404 }];
    const { because: unknown } = await refusalOf(5);
    expect(unknown).toBe('schema 5 of the registry refers to version 7 of B-value, which the registry does not know');
    answers = [{ status: 200, body: { schema: '{}', schemaType: 'JSON' } }];
    const { because: other } = await refusalOf(5);
    expect(other).toBe('schema 5 of the registry refers to version 7 of B-value, which is JSON, not Avro');

    const many = Array.from({ length: 101 }, (_, at) => to(`T${at}`));
    registered = { '/schemas/ids/5': found('a', ...many) };
    answers = [{ status: 200, body: found('b') }];
    asked.length = 0;
    const { because: tooMany } = await refusalOf(5);
    expect(tooMany).toBe('schema 5 of the registry refers to more than 100 others');
    expect(paths()).toHaveLength(101);
  });

  async function refusalOf(id: number) {
    const lookup = await registry().lookUp(id, signal);
    return lookup.found ? { because: 'found' } : lookup;
  }
});

test.for([401, 403])('%d ends the reading, with the field to look at and without the password', async (status) => {
  answers = [{ status }];
  const error: unknown = await registry()
    .lookUp(1, signal)
    .catch((error: unknown) => error);
  expect(String(error)).toMatch(new RegExp(`refused us \\(${status}\\); check schemaRegistry.basicAuth`));
  expect(String(error)).not.toContain('hush');
});
