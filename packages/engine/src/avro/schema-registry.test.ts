import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Clock } from '../clock.ts';
import { SchemaRegistry } from './schema-registry.ts';

/** Answers are taken from here, in order; the last one stays. */
let answers: { readonly status: number; readonly body?: unknown }[] = [];
const asked: { readonly path: string | undefined; readonly accept: string | undefined; readonly user: string }[] = [];
let server: Server;
let url = '';

beforeAll(async () => {
  server = createServer(({ url: path, headers }, response) => {
    const user = Buffer.from(headers.authorization?.replace('Basic ', '') ?? '', 'base64').toString();
    asked.push({ path, accept: headers.accept, user });
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
  expect(await registry('/base/').lookUp(12, signal)).toEqual({ found: true, schema: '"string"' });
  expect(asked).toEqual([
    { path: '/base/schemas/ids/12', accept: 'application/vnd.schemaregistry.v1+json', user: 'reader:hush' },
  ]);
});

test('what it does not answer is asked again, and not said of the message', async () => {
  answers = [{ status: 503 }, { status: 429 }, { status: 200 }, { status: 200, body: { schema: '"int"' } }];
  expect(await registry().lookUp(1, signal)).toEqual({ found: true, schema: '"int"' });
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
  [{ status: 200, body: { schema: '{}', references: [{}] } }, 'schema 5 of the registry refers to other schemas'],
] as const)('%j is said of the message', async ([answer, because]) => {
  answers = [answer];
  expect(await registry().lookUp(5, signal)).toEqual({ found: false, because });
});

test.for([401, 403])('%d ends the reading, with the field to look at and without the password', async (status) => {
  answers = [{ status }];
  const error: unknown = await registry()
    .lookUp(1, signal)
    .catch((error: unknown) => error);
  expect(String(error)).toMatch(new RegExp(`refused us \\(${status}\\); check schemaRegistry.basicAuth`));
  expect(String(error)).not.toContain('hush');
});
