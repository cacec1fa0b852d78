import { describe, expect, test } from 'vitest';
import { VirtualClock } from '../clock/index.ts';
import type { Kind, KubernetesObject } from '../kinds/index.ts';
import { type Logger, silentLogger } from '../log.ts';
import { Client } from './client.ts';
import { ApiError, isConflict } from './errors.ts';
import { type Transport, TransportError, type TransportRequest, type TransportResponse } from './transport.ts';

interface ConfigMap extends KubernetesObject {
  readonly data?: Readonly<Record<string, string>>;
}
const ConfigMap: Kind<ConfigMap> = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  namespaced: true,
};
const a = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'default', name: 'a' } };

type Scripted = Error | { status: number; body?: unknown; headers?: Record<string, string> };

/** A server that gives the scripted answers in turn, and remembers what it was asked. */
function scripted(...answers: Scripted[]) {
  const asked: TransportRequest[] = [];
  const transport: Transport = {
    async request(request) {
      asked.push(request);
      const answer = answers.shift() ?? { status: 200, body: a };
      if (answer instanceof Error) throw answer;
      return response(answer);
    },
    async close() {},
  };
  return { transport, asked };
}

function response({ status, body = {}, headers = {} }: Exclude<Scripted, Error>): TransportResponse {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return {
    status,
    headers,
    text: async () => text,
    async *chunks() {
      yield Buffer.from(text);
    },
    async discard() {},
  };
}

function clientOf(server: { transport: Transport }, options: { log?: Logger } = {}) {
  const clock = new VirtualClock();
  const client = new Client({ transport: server.transport, userAgent: 'polder/test', clock, ...options });
  /** Runs a call to its end, letting the time pass that it waits. */
  const run = async <T>(call: Promise<T>): Promise<T | Error> => {
    const settled = call.catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))));
    await clock.runUntil(() => false, 3_600_000);
    return settled;
  };
  return { client, clock, run };
}

const lost = new TransportError('broke off', { sent: true });
const refused = new TransportError('connection refused', { sent: false });
const busy = { status: 429, headers: { 'retry-after': '2' } };
const ref = { namespace: 'default', name: 'a' };

describe('retries', () => {
  test('a refusal with Retry-After is tried again after that time, ten times at most', async () => {
    const server = scripted(busy, busy);
    const { client, clock, run } = clientOf(server);
    const started = clock.monotonic();
    let took = 0;
    await run(client.create(ConfigMap, a).then(() => (took = clock.monotonic() - started)));
    expect(took).toBe(4000);
    expect(server.asked).toHaveLength(3);

    const stubborn = scripted(...Array.from({ length: 20 }, () => busy));
    const other = clientOf(stubborn);
    expect(await other.run(other.client.get(ConfigMap, ref))).toBeInstanceOf(ApiError);
    expect(stubborn.asked).toHaveLength(10);
  });

  test('a failure without Retry-After may have been carried out and is not repeated', async () => {
    const server = scripted({ status: 500 });
    const { client, run } = clientOf(server);
    expect(await run(client.create(ConfigMap, a))).toMatchObject({ status: 500 });
    expect(server.asked).toHaveLength(1);
  });

  test.each([
    ['get', (client: Client) => client.get(ConfigMap, ref), 2],
    ['apply', (client: Client) => client.apply(ConfigMap, a, { fieldManager: 'me' }), 2],
    [
      'update with a version',
      (client: Client) => client.update(ConfigMap, { ...a, metadata: { ...a.metadata, resourceVersion: '7' } }),
      2,
    ],
    ['delete with a uid', (client: Client) => client.delete(ConfigMap, ref, { preconditions: { uid: 'u' } }), 2],
    ['create', (client: Client) => client.create(ConfigMap, a), 1],
    ['update without a version', (client: Client) => client.update(ConfigMap, a), 1],
    ['delete without a guard', (client: Client) => client.delete(ConfigMap, ref), 1],
    ['patch', (client: Client) => client.patch(ConfigMap, ref, { type: 'merge', body: {} }), 1],
  ] as const)('after a lost answer, %s is sent as often as is safe', async (_, call, times) => {
    const server = scripted(lost);
    const { client, run } = clientOf(server);
    await run(call(client));
    expect(server.asked).toHaveLength(times);
  });

  test('what the server never saw can always be sent again', async () => {
    const server = scripted(refused);
    const { client, run } = clientOf(server);
    expect(await run(client.create(ConfigMap, a))).toEqual(a);
    expect(server.asked).toHaveLength(2);
  });

  test('a first 401 is tried once more, with whatever credentials there are by then', async () => {
    const server = scripted({ status: 401 }, { status: 401 });
    const { client, run } = clientOf(server);
    expect(await run(client.get(ConfigMap, ref))).toMatchObject({ status: 401 });
    expect(server.asked).toHaveLength(2);
  });
});

describe('errors', () => {
  test('carry status, reason, causes and audit id', async () => {
    const causes = [{ reason: 'FieldManagerConflict', field: '.data.k', message: 'conflict with "other"' }];
    const body = { kind: 'Status', message: 'Apply failed', reason: 'Conflict', code: 409, details: { causes } };
    const server = scripted({ status: 409, body, headers: { 'audit-id': '1234' } });
    const { client, run } = clientOf(server);
    const error = await run(client.apply(ConfigMap, a, { fieldManager: 'me' }));
    expect(error).toMatchObject({
      status: 409,
      reason: 'Conflict',
      causes,
      auditId: '1234',
      message: 'Apply failed (409 Conflict, audit id 1234)',
    });
    expect(isConflict(error)).toBe(true);
  });

  test('a proxy that answers in plain text is quoted', async () => {
    const { client, run } = clientOf(scripted({ status: 502, body: '<h1>Bad Gateway</h1>' }));
    expect(await run(client.get(ConfigMap, ref))).toMatchObject({ status: 502, message: '<h1>Bad Gateway</h1> (502)' });
  });
});

test('a warning of the server is logged once', async () => {
  const warned: object[] = [];
  const log = { ...silentLogger, warn: (fields: object) => warned.push(fields) };
  const warning = {
    status: 200,
    body: a,
    headers: { warning: '299 - "unknown field \\"spec.x\\"", 299 - "v1beta1 is deprecated"' },
  };
  const { client, run } = clientOf(scripted(warning, warning), { log });
  await run(client.get(ConfigMap, ref));
  await run(client.get(ConfigMap, ref));
  expect(warned).toEqual([{ warning: 'unknown field "spec.x"' }, { warning: 'v1beta1 is deprecated' }]);
});

test('pages follow the token and name no version beside it', async () => {
  const page = (name: string, token: string) => ({
    status: 200,
    body: { metadata: { resourceVersion: '5', continue: token }, items: [{ metadata: { name } }] },
  });
  const server = scripted(page('a', 'more'), page('b', ''));
  const { client } = clientOf(server);
  const names: string[] = [];
  for await (const { items } of client.pages(ConfigMap, { resourceVersion: '5' }))
    names.push(...items.map((item) => `${item.kind} ${item.metadata.name}`));
  expect(names).toEqual(['ConfigMap a', 'ConfigMap b']);
  expect(server.asked.map((request) => request.path)).toEqual([
    '/api/v1/configmaps?limit=500&resourceVersion=5',
    '/api/v1/configmaps?limit=500&continue=more',
  ]);
});
