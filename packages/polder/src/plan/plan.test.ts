import { type ApiServer, createApiServer } from '@polder/embedded';
import { Client, ConfigMap, Manager, silentLogger, systemClock } from '@polder/kube';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Page, pages } from '../../test/pages.ts';
import { installCrds } from '../crds.ts';
import { applyManifests } from '../manifests/index.ts';
import { parseManifests } from '../manifests/read.ts';
import { defaultConfig, managed } from '../operator/index.ts';
import { planFor } from './plan.ts';

const PATIENCE = { timeout: 10_000, interval: 20 };
const config = defaultConfig([pages]);
const signal = new AbortController().signal;

let server: ApiServer;
let client: Client;
beforeEach(async () => {
  server = createApiServer();
  client = new Client({ transport: server.transport(), userAgent: 'test' });
  await installCrds([Page], { client, clock: systemClock, signal });
});
afterEach(() => server.close());

const page = (spec: object, name = 'home', namespace = 'default') =>
  `apiVersion: test.polder.dev/v1\nkind: Page\nmetadata: {name: ${name}, namespace: ${namespace}}\nspec: ${JSON.stringify(spec)}\n---\n`;

const planned = async (text: string) => {
  const revision = server.revision;
  const tools = { transport: server.transport(), namespace: 'default', config, env: {}, clock: systemClock };
  const plan = await planFor(parseManifests(text, 'page.yaml'), [pages], { ...tools, random: () => 0, signal });
  expect(server.revision).toBe(revision);
  return plan;
};
const linesOf = async (text: string) => (await planned(text)).text.trimEnd().split('\n');

/** Applies the manifests, and lets the operator do its work. */
async function applied(text: string): Promise<void> {
  const tools = { client, clock: systemClock, signal };
  await applyManifests(parseManifests(text, 'page.yaml'), { ...tools, applied: () => {} });
  const stop = new AbortController();
  const surroundings = { ...tools, log: silentLogger, env: {}, resolve: (address: string) => address };
  const { lease: _, ...product } = managed(pages, config, { ...surroundings, namespace: 'default' });
  const manager = new Manager({
    transport: server.transport(),
    userAgent: 'test',
    log: silentLogger,
    products: [product],
  });
  const running = manager.run(stop.signal);
  const isReady = async () =>
    (await client.list(Page)).items.every(
      ({ metadata, status }) =>
        status?.observedGeneration === metadata.generation &&
        status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True'),
    );
  await expect.poll(isReady, PATIENCE).toBe(true);
  stop.abort();
  await running;
}

const HOME = { text: 'hello', configMap: 'home-text', password: 's3cr3t' };

describe('a plan', () => {
  test('of something new lists what would be made, and nothing is', async () => {
    const { text, isAnything } = await planned(page(HOME));
    expect(isAnything).toBe(true);
    expect(text).toBe(`+ page/home created (default/home; page.yaml, line 1)
  + configmap/home-text created
  + secret/page-home created
  + deployment.apps/page-home created; its pods start

4 to create, 0 to change, 0 to delete; no pod restarts.
`);
  });

  test('of what is there already is nothing', async () => {
    await applied(page(HOME));
    expect(await planned(page(HOME))).toEqual({ text: 'Nothing to do.\n', isAnything: false });
  });

  test('of a change tells it field by field, which pods restart, and no secret', async () => {
    await applied(page(HOME));
    const lines = await linesOf(page({ ...HOME, text: 'good bye', password: 's3cr3t2' }));
    expect(lines).toEqual([
      '~ page/home changed (default/home; page.yaml, line 1)',
      '    ~ spec.text: "hello" → "good bye"',
      '    ~ spec.password: <redacted> → <redacted>',
      '  ~ configmap/home-text changed',
      '      ~ data["page.json"].text: "hello" → "good bye"',
      '      ~ data["page.json"].length: 5 → 8',
      '  ~ secret/page-home changed',
      '      ~ data.password: <redacted> → <redacted>',
      '  ~ deployment.apps/page-home changed; its pods are replaced',
      expect.stringMatching(/^ {6}~ spec\.template\.metadata\.annotations\.hash: ".{8}" → ".{8}"$/),
      '',
      '0 to create, 4 to change, 0 to delete; the pods of deployment.apps/page-home restart.',
    ]);
  });

  test('of another number of pods restarts none', async () => {
    await applied(page(HOME));
    expect(await linesOf(page({ ...HOME, replicas: 3 }))).toEqual([
      '~ page/home changed (default/home; page.yaml, line 1)',
      '    + spec.replicas: 3',
      '  ~ deployment.apps/page-home changed',
      '      ~ spec.replicas: 1 → 3',
      '',
      '0 to create, 2 to change, 0 to delete; no pod restarts.',
    ]);
  });

  test('of a field that is left out takes it away, as kubectl apply would', async () => {
    await applied(page({ ...HOME, replicas: 3 }));
    expect(await linesOf(page(HOME))).toContain('    - spec.replicas: 3');
  });

  test('of a field that is left out takes it away, too, where kubectl applied it itself', async () => {
    const ref = { namespace: 'default', name: 'a' };
    const last = { apiVersion: 'v1', kind: 'ConfigMap', metadata: ref, data: { a: '1', b: '2' } };
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify(last) };
    const options = { fieldManager: 'kubectl-client-side-apply' };
    await client.create(ConfigMap, { metadata: { ...ref, annotations }, data: { ...last.data, c: '3' } }, options);
    expect(await linesOf('apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: "1"}\n')).toEqual([
      '~ configmap/a changed (default/a; page.yaml, line 1)',
      '    - data.b: "2"',
      '',
      '0 to create, 1 to change, 0 to delete; no pod restarts.',
    ]);
  });

  test('tells what would be deleted, and what a rule holds back', async () => {
    await applied(page(HOME));
    const moved = page({ ...HOME, configMap: 'other-text' });
    expect(await linesOf(moved)).toContain('  - configmap/home-text deleted: the text is in other-text now');
    const labels = { 'in-use': 'true' };
    await client.patch(
      ConfigMap,
      { namespace: 'default', name: 'home-text' },
      { type: 'merge', body: { metadata: { labels } } },
    );
    const lines = await linesOf(moved);
    expect(lines).toContain('  not yet: remove-config-map is held by keep-what-is-in-use: home-text is in use');
    expect(lines.at(-1)).toBe('1 to create, 1 to change, 0 to delete; no pod restarts.');
  });

  test('shows drift: what the operator would set right', async () => {
    await applied(page(HOME));
    const ref = { namespace: 'default', name: 'home-text' };
    await client.patch(ConfigMap, ref, { type: 'merge', body: { data: { 'page.json': 'drifted' } } });
    const lines = await linesOf(page(HOME));
    expect(lines[0]).toBe('= page/home unchanged (default/home; page.yaml, line 1)');
    expect(lines[1]).toBe('  ~ configmap/home-text changed');
  });

  test('of a namespace and what goes into it works before the namespace is there', async () => {
    const namespace = 'apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n---\n';
    const lines = await linesOf(`${namespace}${page(HOME, 'home', 'shop')}`);
    expect(lines).toContain('+ namespace/shop created (shop; page.yaml, line 1)');
    expect(lines).toContain('  + deployment.apps/page-home created; its pods start');
  });

  test('of what is no resource of a product is what would change in it', async () => {
    const map = (data: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: ${data}\n`;
    await applied(map('{a: "1", b: "2"}'));
    expect(await linesOf(map('{a: "3"}'))).toEqual([
      '~ configmap/a changed (default/a; page.yaml, line 1)',
      '    ~ data.a: "1" → "3"',
      '    - data.b: "2"',
      '',
      '0 to create, 1 to change, 0 to delete; no pod restarts.',
    ]);
  });

  test.each([
    [page({ text: 7 }), /^page\.yaml, line 1: Page home would be refused: .*spec\.text/],
    [page({ ...HOME, txt: 'x' }), /would be refused: .*txt/],
    ['apiVersion: v1\nkind: Confgmap\nmetadata: {name: a}', 'did you mean ConfigMap?'],
  ])('of what the server would refuse says so: %#', async (text, message) => {
    await expect(planned(text)).rejects.toThrow(message);
  });
});
