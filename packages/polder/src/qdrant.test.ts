import { createApiServer } from '@polder/embedded/apiserver';
import { Client, defaultDurations, silentLogger, systemClock } from '@polder/kube';
import { expect, test } from 'vitest';
import { qdrantProduct } from './qdrant.ts';

const client = new Client({ transport: createApiServer().transport(), userAgent: 'test' });

const serversWith = (env: Readonly<Record<string, string>>) =>
  qdrantProduct.servers?.({
    client,
    clock: systemClock,
    intervals: defaultDurations(qdrantProduct.intervals),
    resolve: (address) => address,
    env,
    log: silentLogger,
    namespaces: undefined,
  }) ?? [];

test.each([
  [{}, '127.0.0.1', 8_081],
  [{ API_PORT: '9000' }, '127.0.0.1', 9_000],
  [{ API_PORT: '9000', API_BIND_ADDRESS: '0.0.0.0:8081' }, '0.0.0.0', 8_081],
  [{ API_PORT: 'tcp://10.96.12.3:80' }, '127.0.0.1', 8_081],
])('the API listens where it is told to, and on loopback otherwise: %j', (env, host, port) => {
  expect(serversWith({ API_TOKEN: 'secret', ...env })).toMatchObject([{ bindAddress: { host, port } }]);
});

test.each([
  [{ API_PORT: 'http' }, 'API_PORT is http; a port is a whole number up to 65535'],
  [{ API_PORT: '65536' }, 'API_PORT is 65536; a port is a whole number up to 65535'],
  [{ API_BIND_ADDRESS: 'here' }, 'API_BIND_ADDRESS is here; an address is host:port or :port'],
])('an address that is none is an error: %j', (env, message) => {
  expect(() => serversWith({ API_TOKEN: 'secret', ...env })).toThrow(message);
});

test.each([
  [{ API_TOKEN: 'one' }, 'one'],
  [{ QDRANT_OPERATOR_API_TOKEN: 'two' }, 'two'],
  [{ API_TOKEN: 'one\n', QDRANT_OPERATOR_API_TOKEN: 'two' }, 'one'],
  [{ API_TOKEN: '', QDRANT_OPERATOR_API_TOKEN: 'two' }, 'two'],
])('the token is in one of two variables: %j', async (env, token) => {
  const [server] = serversWith(env);
  const ask = async (authorization: string) =>
    (await server?.app.request('/api/v1/nothing', { headers: { authorization } }))?.status;
  expect(await ask(`Bearer ${token}`)).toBe(404);
  expect(await ask('Bearer other')).toBe(401);
});

test.each([{}, { API_TOKEN: '' }, { QDRANT_OPERATOR_API_TOKEN: ' \n' }])('nothing is served without one: %j', (env) => {
  expect(serversWith(env)).toEqual([]);
});
