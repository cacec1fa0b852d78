import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DataFlow } from '@polder/dataflow';
import { createApiServer } from '@polder/embedded';
import { Client, type ClusterRole, defaultDurations, type Kind, Lease, silentLogger, systemClock } from '@polder/kube';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { loadProducts } from '../src/products.ts';
import { version } from '../src/version.ts';
import { CHECKOUT, Workplace } from './program.ts';

const ROLES = join(CHECKOUT, 'deploy/roles.yaml');
const OPERATOR = join(CHECKOUT, 'deploy/operator.yaml');
const READ = ['get', 'list', 'watch'];
const WRITE = ['create', 'patch', 'delete'];

const roles: readonly ClusterRole[] = parseAllDocuments(readFileSync(ROLES, 'utf8')).map((role) => role.toJS());

/** What the operator may do with a kind because of these roles. */
function verbsFor({ group, plural }: Kind, names: readonly string[]): readonly string[] {
  const rules = roles.filter(({ metadata }) => names.includes(metadata.name)).flatMap((role) => role.rules ?? []);
  return rules
    .filter(({ apiGroups, resources }) => apiGroups?.includes(group) && resources?.includes(plural))
    .flatMap(({ verbs }) => verbs);
}

test.each(await loadProducts())('the account of deploy/ may do what $name has to', (product) => {
  const server = createApiServer();
  const registered = product.controllers({
    client: new Client({ transport: server.transport(), userAgent: 'test' }),
    clock: systemClock,
    intervals: defaultDurations(product.intervals),
    resolve: (address) => address,
    env: {},
    log: silentLogger,
  });
  const lacks = (kind: Kind, verbs: readonly string[]) => {
    const granted = verbsFor(kind, [`polder-${product.name}`, 'polder-cluster']);
    return verbs.filter((verb) => !granted.includes(verb)).map((verb) => `${verb} ${kind.plural}`);
  };
  const missing = registered.flatMap(({ kind, kinds, owns }) => [
    ...kinds.flatMap((one) => lacks(one, READ)),
    ...owns.flatMap((one) => lacks(one, WRITE)),
    ...lacks(kind, ['patch']),
    ...lacks({ ...kind, plural: `${kind.plural}/status` }, ['patch']),
  ]);
  expect(missing).toEqual([]);
  server.close();
});

test('deploy/ and its guide name the image of this version', () => {
  for (const file of ['deploy/operator.yaml', 'deploy/Dockerfile', 'docs/operator.md']) {
    const tags = [...readFileSync(join(CHECKOUT, file), 'utf8').matchAll(/\bpolder(?:\/operator)?:(\d[\w.]*)/g)];
    expect(tags.map(([, tag]) => tag)).toEqual(tags.map(() => version));
    expect(tags).not.toHaveLength(0);
  }
});

test('deploy/ runs operators in pods: one leads, their webhook refuses what can not work, and what can is made true', {
  timeout: 180_000,
}, async () => {
  const patience = { timeout: 90_000, interval: 250 };
  await using place = new Workplace();
  const crds = place.write('crds.yaml', (await place.result('crds')).out);
  const up = place.polder('up', '--no-operator', ...[crds, ROLES, OPERATOR].flatMap((file) => ['-f', file]));
  await expect.poll(() => up.said.out, patience).toContain('everything is ready');
  const client = await place.connect();
  try {
    const lease = { namespace: 'polder-system', name: 'dataflow-operator.dataflow.io' };
    await expect.poll(async () => (await client.get(Lease, lease)).spec?.holderIdentity, patience).toBeTruthy();

    const kafka = (config: object) => ({ type: 'kafka', config: { brokers: ['kafka:9092'], ...config } });
    const metadata = { namespace: 'default', name: 'orders' };
    const spec = { source: kafka({ topic: 'in' }), sink: kafka({ topic: 'out' }), maintenance: { suspended: true } };
    const wrong = client.create(DataFlow, { metadata, spec: { ...spec, sink: kafka({}) } });
    await expect(wrong).rejects.toThrow(/admission webhook .* denied the request.*topic/s);

    await client.create(DataFlow, { metadata, spec });
    const phase = async () => (await client.get(DataFlow, metadata)).status?.phase;
    await expect.poll(phase, patience).toBe('Stopped');
  } finally {
    await client.close();
  }
});
