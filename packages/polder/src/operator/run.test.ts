import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { get } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ApiServer, createApiServer } from '@polder/embedded';
import {
  Client,
  ConfigMap,
  controller,
  createAuthority,
  defineKind,
  isNotFound,
  issue,
  Lease,
  type Logger,
  Namespace,
  Pod,
  register,
  Secret,
  silentLogger,
  statusOf,
  systemClock,
  type Transport,
  ValidatingWebhookConfiguration,
} from '@polder/kube';
import { kinds, QdrantCollectionTemplate } from '@polder/qdrant/kinds';
import { Type } from 'typebox';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { freePorts } from '../../../../tools/free-ports.ts';
import { Page, pages } from '../../test/pages.ts';
import { installCrds } from '../crds.ts';
import type { BuiltInProduct } from '../products.ts';
import { qdrantProduct } from '../qdrant.ts';
import { defaultConfig } from './config.ts';
import { type OperatorOptions, runOperator } from './run.ts';

const LOOPBACK = { host: '127.0.0.1', port: 0 };
const PATIENCE = { timeout: 15_000, interval: 20 };
/** So that a test does not wait for as long as a cluster would. */
const config = defaultConfig([pages]);
const quick = {
  ...config,
  shared: { ...config.shared, leaseDuration: 2_000, leaseRenewDeadline: 1_500, leaseRetryPeriod: 100 },
};

/** Another product, whose kind is not installed. */
const Note = defineKind({
  group: 'test.polder.dev',
  version: 'v1',
  kind: 'Note',
  plural: 'notes',
  spec: Type.Object({}),
  status: statusOf({}),
});
const notes: BuiltInProduct = {
  name: 'notes',
  kinds: [Note],
  fieldManager: 'notes',
  lease: 'notes.test.polder.dev',
  intervals: {},
  controllers: () => [
    register(
      controller({
        kind: Note,
        observe: async () => {},
        plan: () => ({ objects: [], steps: [], held: [], status: {} }),
        steps: {},
      }),
    ),
  ],
};

let server: ApiServer;
let client: Client;
let running: { readonly stop: AbortController; readonly done: Promise<void> }[];
beforeEach(async () => {
  server = createApiServer();
  client = new Client({ transport: server.transport(), userAgent: 'test' });
  running = [];
  await installCrds([Page], { client, clock: systemClock, signal: new AbortController().signal });
});
afterEach(async () => {
  for (const { stop } of running) stop.abort(new Error('the test is over'));
  await Promise.all(running.map(({ done }) => done));
  server.close();
});

interface Operator {
  /** What it has told, line by line. */
  readonly said: readonly string[];
  ask(what: 'metrics' | 'probes', path: string): Promise<{ readonly status: number; readonly text: string }>;
  /** The port under which it serves something; 0 before it does. */
  port(what: string): number;
  stop(): Promise<void>;
}

function start(
  options: Partial<OperatorOptions> = {},
  transport: Transport = server.transport(),
  env: NodeJS.ProcessEnv = {},
): Operator {
  const said: string[] = [];
  const ports = new Map<string, number>();
  const note = (fields: object, message: string) => {
    said.push(message);
    const [, what] = /^serving (.+) on /.exec(message) ?? [];
    if (what !== undefined && 'port' in fields) ports.set(what, Number(fields.port));
  };
  const log: Logger = { ...silentLogger, info: note, warn: note, error: note, child: () => log };
  const stop = new AbortController();
  const all: OperatorOptions = {
    products: [pages],
    config: quick,
    namespace: 'default',
    metricsBindAddress: LOOPBACK,
    healthProbeBindAddress: LOOPBACK,
    ...options,
  };
  const tools = { transport, server: 'embedded', clock: systemClock, env, log, signal: stop.signal };
  const done = runOperator(all, { ...tools, resolve: (address) => address });
  running.push({ stop, done });
  const port = (what: string) => ports.get(what) ?? 0;
  return {
    said,
    port,
    async ask(what, path) {
      const answer = await fetch(`http://127.0.0.1:${port(what)}${path}`);
      return { status: answer.status, text: await answer.text() };
    },
    async stop() {
      stop.abort(new Error('stopped'));
      await done;
    },
  };
}

const page = (name: string, more: object = {}, namespace = 'default') =>
  client.create(Page, { metadata: { namespace, name }, spec: { text: 'hello', configMap: `${name}-text`, ...more } });
const isThere = (name: string, namespace = 'default') =>
  client.get(ConfigMap, { namespace, name: `${name}-text` }).then(
    () => true,
    (error: unknown) => {
      if (!isNotFound(error)) throw error;
      return false;
    },
  );
const holder = async () => {
  const { items } = await client.list(Lease, { namespace: 'default' });
  return items.find(({ metadata }) => metadata.name === pages.lease)?.spec?.holderIdentity ?? '';
};

describe('an operator', () => {
  test('makes what is declared, says that it is ready and leads, and gives its lease back when it is stopped', async () => {
    const operator = start();
    await page('a');
    await expect.poll(() => isThere('a'), PATIENCE).toBe(true);
    expect(await operator.ask('probes', '/healthz')).toEqual({ status: 200, text: 'ok' });
    expect(await operator.ask('probes', '/readyz')).toEqual({ status: 200, text: 'ok' });
    const { text } = await operator.ask('metrics', '/metrics');
    expect(text).toContain('leader_election_master_status{name="pages"} 1\n');
    expect(text).toMatch(
      /controller_runtime_reconcile_total\{controller="pages\.test\.polder\.dev",result="success"\} [1-9]/,
    );
    expect(text.match(/^# TYPE process_cpu_seconds_total/gm)).toHaveLength(1);
    expect(await holder()).not.toBe('');
    await operator.stop();
    expect(await holder()).toBe('');
  });

  test('leaves other namespaces alone when it is told which are its own', async () => {
    for (const name of ['mine', 'yours']) await client.create(Namespace, { metadata: { name } });
    start({ namespaces: ['mine'] });
    await page('a', {}, 'yours');
    await page('a', {}, 'mine');
    await expect.poll(() => isThere('a', 'mine'), PATIENCE).toBe(true);
    expect(await isThere('a', 'yours')).toBe(false);
  });

  test('says which kind is not installed, is not ready without it, and begins when it comes', async () => {
    server.close();
    server = createApiServer();
    client = new Client({ transport: server.transport(), userAgent: 'test' });
    const operator = start();
    await expect
      .poll(() => operator.said, PATIENCE)
      .toContain('the cluster has no kind Page (test.polder.dev/v1); install it: polder crds | kubectl apply -f -');
    expect(await operator.ask('probes', '/readyz')).toMatchObject({
      status: 500,
      text: expect.stringContaining(
        '[ ]pages waits: the cluster has no kind Page (test.polder.dev/v1); install it: polder crds | kubectl apply -f -\n',
      ),
    });
    await installCrds([Page], { client, clock: systemClock, signal: new AbortController().signal });
    await page('a');
    await expect.poll(() => isThere('a'), PATIENCE).toBe(true);
  });

  test('of several products works for those whose kinds are there, and says what the others wait for', async () => {
    const operator = start({ products: [notes, pages], config: { ...quick, durations: { notes: {}, pages: {} } } });
    await page('a');
    await expect.poll(() => isThere('a'), PATIENCE).toBe(true);
    const absence = 'the cluster has no kind Note (test.polder.dev/v1); install it: polder crds | kubectl apply -f -';
    expect(operator.said.filter((line) => line.includes('Note'))).toEqual([absence]);
    expect(await operator.ask('probes', '/readyz')).toEqual({ status: 200, text: `[ ]notes waits: ${absence}\nok` });
    expect(await operator.ask('probes', '/readyz?verbose')).toEqual({
      status: 200,
      text: `[ ]notes waits: ${absence}\n[+]pages ok\nreadyz check passed\n`,
    });
    expect(await operator.ask('probes', '/readyz/notes')).toEqual({ status: 500, text: `${absence}\n` });
    expect(await operator.ask('probes', '/readyz?exclude=notes')).toEqual({ status: 200, text: 'ok' });
    expect((await operator.ask('metrics', '/metrics')).text).toContain(
      'leader_election_master_status{name="pages"} 1\n',
    );
    await installCrds([Note], { client, clock: systemClock, signal: new AbortController().signal });
    await expect.poll(async () => (await operator.ask('probes', '/readyz')).text, PATIENCE).toBe('ok');
    expect(operator.said).toContain('the cluster has the kind Note (test.polder.dev/v1) now');
    const leads = async () => (await operator.ask('metrics', '/metrics')).text;
    await expect.poll(leads, PATIENCE).toContain('leader_election_master_status{name="notes"} 1\n');
  });

  test('that can not listen says where, and ends', async () => {
    const first = start();
    await expect.poll(() => first.port('metrics'), PATIENCE).toBeGreaterThan(0);
    const taken = { host: '127.0.0.1', port: first.port('metrics') };
    const second = runOperator(
      {
        products: [pages],
        config,
        namespace: 'default',
        metricsBindAddress: taken,
        healthProbeBindAddress: LOOPBACK,
      },
      {
        transport: server.transport(),
        server: 'embedded',
        clock: systemClock,
        env: {},
        log: silentLogger,
        resolve: (address) => address,
        signal: new AbortController().signal,
      },
    );
    await expect(second).rejects.toThrow(`cannot listen on 127.0.0.1:${taken.port}: the port is in use`);
  });
});

describe('of two operators', () => {
  /** A connection that can be cut for good, as if the process had been killed. */
  function cuttable(): { readonly transport: Transport; cut(): void } {
    const inner = server.transport();
    let isCut = false;
    const silence = (signal: AbortSignal | undefined) =>
      new Promise<never>((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
    return {
      transport: {
        request: (asked) => (isCut ? silence(asked.signal) : inner.request(asked)),
        close: () => inner.close(),
      },
      cut: () => (isCut = true),
    };
  }

  test('one works, and the other takes over as soon as it is stopped', async () => {
    const first = start();
    await expect.poll(holder, PATIENCE).not.toBe('');
    const leader = await holder();
    const second = start();
    await expect.poll(() => second.port('metrics'), PATIENCE).toBeGreaterThan(0);
    await expect.poll(async () => (await second.ask('probes', '/readyz')).status, PATIENCE).toBe(200);
    await page('a');
    await expect.poll(() => isThere('a'), PATIENCE).toBe(true);
    expect(await holder()).toBe(leader);
    expect((await second.ask('metrics', '/metrics')).text).toContain('leader_election_master_status{name="pages"} 0\n');
    await first.stop();
    await page('b');
    await expect.poll(() => isThere('b'), PATIENCE).toBe(true);
    expect(await holder()).not.toBe(leader);
  });

  test('one takes over from the other that was killed, once its lease is over and not before', async () => {
    const connection = cuttable();
    start({}, connection.transport);
    await expect.poll(holder, PATIENCE).not.toBe('');
    const leader = await holder();
    start();
    connection.cut();
    const killedAt = performance.now();
    await page('a');
    await expect.poll(() => isThere('a'), PATIENCE).toBe(true);
    expect(performance.now() - killedAt).toBeGreaterThan(1_500);
    expect(await holder()).not.toBe(leader);
  });

  test('only the one that leads serves the metrics of pods, so that sums over both are right', async () => {
    const ref = { namespace: 'default', name: 'p' };
    const spec = { containers: [{ name: 'processor', image: 'x' }] };
    await client.create(Pod, { metadata: { ...ref, labels: { app: 'page-processor' } }, spec });
    const status = { phase: 'Running', podIP: '127.0.0.1', podIPs: [{ ip: '127.0.0.1' }] };
    await client.patch(Pod, ref, { type: 'merge', body: { status } }, { subresource: 'status' });
    const [first, second] = [start(), start()];
    const up = 'pages_processor_up{namespace="default",pod="p"} 0';
    const pagesWithIt = async () => {
      const texts = await Promise.all([first, second].map(async (one) => (await one.ask('metrics', '/metrics')).text));
      return texts.filter((text) => text.includes(up)).length;
    };
    await expect.poll(() => Math.min(first.port('metrics'), second.port('metrics')), PATIENCE).toBeGreaterThan(0);
    await expect.poll(pagesWithIt, PATIENCE).toBe(1);
  });
});

describe('the Qdrant API', () => {
  const API = 'the Qdrant API';
  const TRUSTED = { authorization: 'Bearer secret', 'content-type': 'application/json' };
  const qdrant = { products: [qdrantProduct], config: { ...quick, ...defaultConfig([qdrantProduct]) } };
  const withEnv = (env: NodeJS.ProcessEnv) => start(qdrant, server.transport(), env);
  const call = (operator: Operator, path: string, init: RequestInit = {}) =>
    fetch(`http://127.0.0.1:${operator.port(API)}${path}`, { headers: TRUSTED, ...init });
  beforeEach(() => installCrds(kinds, { client, clock: systemClock, signal: new AbortController().signal }));

  test('is served by every operator, and what it declares is looked after by the one that leads', async () => {
    const env = { API_TOKEN: 'secret', API_BIND_ADDRESS: ':0' };
    const both = [withEnv(env), withEnv(env)];
    await expect.poll(() => Math.min(...both.map((one) => one.port(API))), PATIENCE).toBeGreaterThan(0);
    for (const [index, one] of both.entries()) {
      const body = JSON.stringify({ name: `small-${index}` });
      expect((await call(one, '/api/v1/templates', { method: 'POST', body })).status).toBe(201);
      expect((await call(one, '/api/v1/templates', { headers: {} })).status).toBe(401);
      expect((await call(one, '/health', { headers: {} })).status).toBe(200);
    }
    const looked = async () => {
      const { items } = await client.list(QdrantCollectionTemplate);
      return items.map(({ status }) => status?.usageCount);
    };
    await expect.poll(looked, PATIENCE).toEqual([0, 0]);
  });

  test('is served over TLS, and in no other way, with the certificate of a folder', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'polder-api-'));
    onTestFinished(() => rm(directory, { recursive: true }));
    const times = { validMs: 3_600_000, now: systemClock.now() };
    const authority = await createAuthority({ name: 'test', ...times });
    const pair = await issue(authority, { name: 'api', use: 'server', ipAddresses: ['127.0.0.1'], ...times });
    await writeFile(join(directory, 'tls.crt'), pair.certificate);
    await writeFile(join(directory, 'tls.key'), pair.key);
    const operator = withEnv({ API_TOKEN: 'secret', API_BIND_ADDRESS: ':0', API_CERT_DIR: directory });
    await expect.poll(() => operator.port(API), PATIENCE).toBeGreaterThan(0);
    const port = operator.port(API);
    const status = (path: string, headers: Record<string, string> = {}) =>
      new Promise((resolve, reject) => {
        const options = { host: '127.0.0.1', port, path, headers, ca: authority.certificate };
        get(options, (answer) => resolve(answer.resume().statusCode)).on('error', reject);
      });
    expect(await status('/api/v1/templates', TRUSTED)).toBe(200);
    expect(await status('/api/v1/templates')).toBe(401);
    await expect(call(operator, '/api/v1/templates')).rejects.toThrow('fetch failed');
  });

  test('ends the operator if the folder has no certificate: it is not served in clear text instead', async () => {
    const operator = withEnv({ API_TOKEN: 'secret', API_BIND_ADDRESS: ':0', API_CERT_DIR: '/nowhere' });
    const { done } = running.pop() ?? {};
    await expect(done).rejects.toThrow('/nowhere');
    expect(operator.port(API)).toBe(0);
  });

  test('in clear text is warned of where others can listen', async () => {
    const open = withEnv({ API_TOKEN: 'secret', API_BIND_ADDRESS: '0.0.0.0:0' });
    await expect.poll(() => open.port(API), PATIENCE).toBeGreaterThan(0);
    expect(open.said.filter((line) => line.includes('clear text'))).toEqual([
      'the Qdrant API on 0.0.0.0 is in clear text, and so is its token: name a folder with tls.crt and tls.key in API_CERT_DIR, or put something before it that speaks TLS',
    ]);
    const own = withEnv({ API_TOKEN: 'secret', API_BIND_ADDRESS: ':0' });
    await expect.poll(() => own.port(API), PATIENCE).toBeGreaterThan(0);
    expect(own.said.filter((line) => line.includes('clear text'))).toEqual([]);
  });

  test('answers for the namespaces of its operator alone', async () => {
    const options = { ...qdrant, namespaces: ['shop'] };
    const operator = start(options, server.transport(), { API_TOKEN: 'secret', API_BIND_ADDRESS: ':0' });
    await expect.poll(() => operator.port(API), PATIENCE).toBeGreaterThan(0);
    expect((await call(operator, '/api/v1/collections')).status).toBe(403);
    expect((await call(operator, '/api/v1/collections?namespace=shop')).status).toBe(200);
  });

  test('is not served without a token, and one line says how it would be', async () => {
    const operator = withEnv({ API_TOKEN: ' ', API_BIND_ADDRESS: ':0' });
    await expect.poll(() => operator.port('metrics'), PATIENCE).toBeGreaterThan(0);
    const lines = operator.said.filter((line) => line.includes('Qdrant API'));
    expect(lines).toEqual(['the Qdrant API is not served: set API_TOKEN to a token that its callers have to know']);
  });
});

describe('the webhook', () => {
  test('is known to the API server with a certificate that it trusts, and refuses what is wrong', async () => {
    const [port = 0] = await freePorts(1);
    const operator = start({
      webhook: {
        bindAddress: { host: '127.0.0.1', port },
        certificates: { kept: 'by-us', target: { url: `https://127.0.0.1:${port}`, host: '127.0.0.1' } },
      },
    });
    await expect.poll(() => operator.port('webhooks'), PATIENCE).toBe(port);
    const { webhooks } = await client.get(ValidatingWebhookConfiguration, { name: pages.lease });
    expect(webhooks?.[0]).toMatchObject({
      name: 'vpage.test.polder.dev',
      failurePolicy: 'Ignore',
      clientConfig: { url: `https://127.0.0.1:${port}/validate-pages`, caBundle: expect.stringMatching(/.{100}/) },
    });
    expect(await client.get(Secret, { namespace: 'default', name: 'polder-webhook-certificate' })).toMatchObject({
      type: 'kubernetes.io/tls',
    });
    await expect(page('bad', { text: '' })).rejects.toThrow(
      'admission webhook "vpage.test.polder.dev" denied the request: spec.text: Required value: text is required',
    );
    await page('good');
    await operator.stop();
    // Without its operator nobody is kept from anything; the controllers say what is wrong.
    await page('unseen', { text: '' });
  });
});
