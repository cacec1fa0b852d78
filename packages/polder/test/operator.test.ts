import { join } from 'node:path';
import { DataFlow } from '@polder/dataflow';
import { type Client, Deployment, isNotFound, systemClock } from '@polder/kube';
import { kinds, QdrantCollection } from '@polder/qdrant/kinds';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { installCrds } from '../src/crds.ts';
import { CHECKOUT, type Started, Workplace } from './program.ts';

const PATIENCE = { timeout: 30_000, interval: 100 };
/** Each start of the program takes a while on a machine that is busy with other things. */
const SLOW = 60_000;

let place: Workplace;
beforeEach(() => {
  place = new Workplace();
});
afterEach(() => place[Symbol.asyncDispose]());

/** Whose processors are simulated: nobody here has a Kafka. */
const operator = (...args: readonly string[]): Started => {
  const anyPort = ['--metrics-bind-address', ':0', '--health-probe-bind-address', ':0'];
  const program = join(CHECKOUT, 'polder');
  const all = ['operator', '--products', 'dataflow', '--kubeconfig', place.kubeconfig, ...anyPort, ...args];
  return place.run('env', 'PROCESSOR_IMAGE=simulated', program, ...all);
};

const flow = (name: string, topic = 'in') => ({
  apiVersion: 'dataflow.dataflow.io/v1',
  kind: 'DataFlow',
  metadata: { namespace: 'default', name },
  spec: {
    source: { type: 'kafka', config: { brokers: ['k:9092'], topic } },
    sink: { type: 'kafka', config: { brokers: ['k:9092'], topic: 'out' } },
  },
});

describe('polder operator', { timeout: 3 * SLOW }, () => {
  let client: Client;
  beforeEach(async () => {
    const up = place.polder('up', '--no-operator');
    await up.says(/is ready at/);
    client = await place.connect();
    await installCrds([DataFlow], { client, clock: systemClock, signal: new AbortController().signal });
  }, SLOW);
  afterEach(() => client.close());

  const isThere = (name: string) =>
    client.get(Deployment, { namespace: 'default', name: `dataflow-${name}` }).then(
      () => true,
      (error: unknown) => {
        if (!isNotFound(error)) throw error;
        return false;
      },
    );

  test('and polder plan tell the same: first what would be done, then that it is', async () => {
    const manifest = place.write('flow.json', JSON.stringify(flow('orders')));
    const plan = () => place.result('plan', '--kubeconfig', place.kubeconfig, '-f', manifest);
    const before = await plan();
    expect(before).toMatchObject({ code: 2, err: '' });
    expect(before.out).toContain('+ deployment.apps/dataflow-orders created; its pods start');
    operator();
    await client.create(DataFlow, flow('orders'));
    await expect.poll(() => isThere('orders'), PATIENCE).toBe(true);
    const planned = async () => {
      const image = 'PROCESSOR_IMAGE=simulated';
      const args = ['plan', '--kubeconfig', place.kubeconfig, '-f', manifest];
      const { said, exit } = place.run('env', image, join(CHECKOUT, 'polder'), ...args);
      return { code: await exit, ...said };
    };
    expect(await planned()).toEqual({ code: 0, out: 'Nothing to do.\n', err: '' });
    place.write('flow.json', JSON.stringify(flow('orders', 'other')));
    const after = await planned();
    expect(after.code).toBe(2);
    expect(after.out).toContain('~ spec.source.config.topic: "in" → "other"');
    expect(after.out).toContain('the pods of deployment.apps/dataflow-orders restart.');
  });
});

describe('polder operator with a token', { timeout: 3 * SLOW }, () => {
  const qdrant = (...variables: readonly string[]): Started => {
    const anyPort = ['--metrics-bind-address', ':0', '--health-probe-bind-address', ':0', '--api-bind-address', ':0'];
    const all = ['operator', '--products', 'qdrant', '--kubeconfig', place.kubeconfig, ...anyPort];
    return place.run('env', ...variables, join(CHECKOUT, 'polder'), ...all);
  };

  test('serves the Qdrant API, and without one does not', async () => {
    const up = place.polder('up', '--no-operator');
    await up.says(/is ready at/);
    const client = await place.connect();
    await installCrds(kinds, { client, clock: systemClock, signal: new AbortController().signal });
    const open = qdrant('API_TOKEN=secret');
    await open.says(/serving the Qdrant API on/);
    const [, port] = /serving the Qdrant API on 127\.0\.0\.1:(\d+)/.exec(open.said.out) ?? [];
    const body = { name: 'products', cluster: 'vectors', vectors: { size: 4 } };
    const made = await fetch(`http://127.0.0.1:${port}/api/v1/collections`, {
      method: 'POST',
      headers: { authorization: 'Bearer secret', 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(made.status).toBe(201);
    const ref = { namespace: 'default', name: 'products' };
    expect((await client.get(QdrantCollection, ref)).spec).toMatchObject({ cluster: 'vectors', vectorSize: 4 });
    await client.close();
    const closed = qdrant('API_TOKEN=');
    await closed.says(/the Qdrant API is not served: set API_TOKEN/);
    expect(open.said.out + closed.said.out).not.toContain('secret');
  });
});

describe('polder operator refuses', { timeout: SLOW }, () => {
  const refusal = async (...args: readonly string[]) => {
    const { code, err, out } = await place.result('operator', ...args);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    return err;
  };

  test('a product that it has not', async () => {
    expect(await refusal('--products', 'dataflows')).toBe(
      'polder: there is no product dataflows; did you mean dataflow?\n',
    );
  });

  test('a configuration with mistakes, all of them at once', async () => {
    const path = place.write('operator.yaml', 'intervals:\n  dataflow:\n    countsIntervall: 5s\nresolv: {}\n');
    expect(await refusal('--config', path)).toBe(
      'polder: operator.yaml, line 3: intervals.dataflow has no countsIntervall; did you mean countsInterval?\n' +
        'operator.yaml, line 4: the configuration has no resolv; did you mean resolve?\n',
    );
  });

  test('a cluster that it can not find', async () => {
    expect(await refusal('--kubeconfig', 'none')).toBe('polder: cannot read none\n');
  });
});

test('polder operator --print-config prints what --config takes', { timeout: SLOW }, async () => {
  const { code, out } = await place.result('operator', '--print-config');
  expect(code).toBe(0);
  const path = place.write('operator.yaml', out);
  expect(await place.result('operator', '--config', path, '--print-config')).toMatchObject({ code: 0, out });
});
