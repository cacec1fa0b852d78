import { createApiServer } from '@polder/embedded';
import { Client, defaultDurations, silentLogger, systemClock } from '@polder/kube';
import { expect, test } from 'vitest';
import { installCrds } from './crds.ts';
import { applyManifests } from './manifests/index.ts';
import { parseManifests } from './manifests/read.ts';
import { defaultConfig } from './operator/index.ts';
import { planFor } from './plan/plan.ts';
import { qdrantProduct } from './qdrant.ts';

const signal = new AbortController().signal;
const tools = { clock: systemClock, signal };

const manifest = (kind: string, name: string, spec: object) =>
  `apiVersion: qdrant.operator/v1alpha1\nkind: ${kind}\nmetadata: {name: ${name}, namespace: default}\nspec: ${JSON.stringify(spec)}\n---\n`;

test('a collection can be planned, and of one that can not be it is told why', async () => {
  const server = createApiServer();
  const client = new Client({ transport: server.transport(), userAgent: 'test' });
  await installCrds(qdrantProduct.kinds, { client, ...tools });
  const planned = async (text: string) => {
    const options = { transport: server.transport(), namespace: 'default', env: {}, ...tools, random: () => 0 };
    const config = defaultConfig([qdrantProduct]);
    return (await planFor(parseManifests(text, 'points.yaml'), [qdrantProduct], { ...options, config })).text;
  };
  const points = manifest('QdrantCollection', 'points', { cluster: 'vectors', vectorSize: 4 });
  expect(await planned(points)).toContain('qdrantcollection/points created');
  const wrong = manifest('QdrantCollection', 'points', { cluster: 'vectors', vectorSize: 0 });
  expect(await planned(wrong)).toContain('spec.vectorSize is 0; it must be at least 1');
  await applyManifests(parseManifests(points, 'points.yaml'), { client, ...tools, applied: () => {} });
  expect(await planned(points)).toBe('Nothing to do.\n');
  server.close();
});

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
