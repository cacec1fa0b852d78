import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { ConfigMap, Node } from '@polder/kube';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import manifest from '../package.json' with { type: 'json' };
import { becomeProcesses, CHECKOUT, markedProgram, processesWith, type Started, Workplace } from './program.ts';

let place: Workplace;
let mark: string;
beforeEach(({ task }) => {
  place = new Workplace();
  mark = `mark-${task.id}-${process.pid}`;
});
afterEach(() => place[Symbol.asyncDispose]());

test('tells its version and its commands', async () => {
  expect(await place.result('--version')).toEqual({ code: 0, out: `${manifest.version}\n`, err: '' });
  const help = await place.result('--help');
  expect(help.code).toBe(0);
  for (const command of ['up', 'crds']) expect(help.out).toMatch(new RegExp(`^ {2}${command}\\b`, 'm'));
});

test('answers a typo with what was meant', async () => {
  const { code, err } = await place.result('upp');
  expect(code).toBe(1);
  expect(err).toContain('Did you mean up?');
});

/** What the JSON log says, a message a line. */
const messages = ({ said }: Started) =>
  said.out
    .trim()
    .split('\n')
    .map((line) => {
      const { msg }: { readonly msg: string } = JSON.parse(line);
      return msg;
    });

const configMap = (name: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\n---\n`;

const deployment = (replicas: number, command: string, podSpec = '') => `
apiVersion: apps/v1
kind: Deployment
metadata: {name: marked}
spec:
  replicas: ${replicas}
  selector: {matchLabels: {app: marked}}
  template:
    metadata: {labels: {app: marked}}
    spec:
      containers: [{name: main, image: polder/host, command: ${command}}]
      ${podSpec}
`;

describe('up', { timeout: 60_000 }, () => {
  const start = async (...args: readonly string[]) => {
    const up = place.polder('up', ...args);
    await up.says(/is ready at/);
    return up;
  };
  const stop = async ({ child, exit }: Started) => {
    child.kill('SIGINT');
    return exit;
  };

  test('serves an API that only its owner can reach, and takes it away when it is stopped', async () => {
    const up = await start();
    const facts: unknown = JSON.parse(up.said.out.split('\n')[0] ?? '');
    expect(facts).toMatchObject({ kubeconfig: place.kubeconfig, folder: place.dataDir, nodes: 1 });
    expect(statSync(place.kubeconfig).mode & 0o777).toBe(0o600);
    expect(readFileSync(place.kubeconfig, 'utf8')).toMatch(/server: https:\/\/127\.0\.0\.1:/);
    const client = await place.connect();
    expect((await client.list(Node)).items).toHaveLength(1);
    await client.close();
    expect(await stop(up)).toBe(0);
    expect(() => statSync(place.kubeconfig)).toThrow(/ENOENT/);
  });

  test('has as many nodes as it is told, and fewer when it is told so later', async () => {
    const ready = async () => {
      const client = await place.connect();
      const { items } = await client.list(Node);
      await client.close();
      return items
        .filter(({ status }) => status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True'))
        .map(({ metadata }) => metadata.name);
    };
    const up = await start('--nodes', '3');
    await expect.poll(ready).toEqual(['polder-1', 'polder-2', 'polder-3']);
    expect(await stop(up)).toBe(0);
    await start('--nodes', '2');
    await expect.poll(ready).toEqual(['polder-1', 'polder-2']);
  });

  test('loses nothing that it has acknowledged when it is killed', async () => {
    const first = await start();
    const client = await place.connect();
    const metadata = { namespace: 'default', name: 'kept' };
    await client.create(ConfigMap, { metadata, data: { state: 'written' } });
    await client.close();
    first.child.kill('SIGKILL');
    await first.exit;
    await start();
    const again = await place.connect();
    expect((await again.get(ConfigMap, metadata)).data).toEqual({ state: 'written' });
    await again.close();
  });

  test('brings up the example, says so, and finds it unchanged the next time', async () => {
    const example = join(CHECKOUT, 'examples/cluster');
    const first = await start('-f', example);
    await first.says(/everything is ready/);
    const said = messages(first);
    expect(said).toContain('deployment.apps/hello created');
    expect(said).toContain('deployment.apps/hello: 2 of 2 pods are ready');
    expect(said).toContain('statefulset.apps/web: 3 of 3 pods are ready');
    expect(await stop(first)).toBe(0);
    const second = await start('-f', example);
    await second.says(/everything is ready/);
    expect(messages(second).filter((text) => /created|changed/.test(text) && !/unchanged/.test(text))).toEqual([]);
  });

  test('runs beside another one, and their pods do not take the ports of each other', async () => {
    const example = join(CHECKOUT, 'examples/cluster/hello.yaml');
    const both = await Promise.all(['one', 'other'].map((dataDir) => start('--data-dir', dataDir, '-f', example)));
    for (const up of both) await up.says(/everything is ready/);
    for (const up of both) expect(messages(up)).toContain('deployment.apps/hello: 2 of 2 pods are ready');
  });

  describe('refuses in one sentence', () => {
    const refusal = async (...args: readonly string[]) => {
      const { code, err } = await place.result('up', ...args);
      expect({ code, lines: err.split('\n').length }).toEqual({ code: 1, lines: 2 });
      return err;
    };

    test('a second instance on the same data, and leaves the first alone', async () => {
      await start();
      expect(await refusal()).toBe(
        `polder: ${place.dataDir}/cluster.db cannot be used as storage: another server is using it\n`,
      );
      const client = await place.connect();
      expect((await client.list(Node)).items).toHaveLength(1);
      await client.close();
    });

    test('a port in use', async () => {
      const taken = createServer().listen(0, '127.0.0.1');
      await once(taken, 'listening');
      const address = taken.address();
      const port = typeof address === 'object' && address ? String(address.port) : '';
      expect(await refusal('--port', port)).toBe(`polder: cannot listen on 127.0.0.1:${port}: the port is in use\n`);
      taken.close();
    });

    test('a folder that it cannot have', async () => {
      const file = place.write('file', '');
      expect(await refusal('--data-dir', file)).toMatch(`polder: the data folder ${file} cannot be used: EEXIST`);
      expect(await refusal('--data-dir', '/dev/null/data')).toMatch(
        'polder: the data folder /dev/null/data cannot be used: ENOTDIR',
      );
    });

    test('a file of something else in place of its own', async () => {
      place.write('cluster.db', 'notes of somebody, and no database at all');
      expect(await refusal('--data-dir', '.')).toMatch(/cluster\.db cannot be used as storage: file is not a database/);
    });

    test('a disk that takes no more', async () => {
      // No file may grow beyond 40 KiB: to whoever writes it is as if the disk were full.
      const limited = `trap '' XFSZ; ulimit -f 40; exec "$0" up`;
      const { said, exit } = place.run('bash', '-c', limited, join(CHECKOUT, 'polder'));
      expect(await exit).toBe(1);
      expect(said.err).toMatch(/^polder: .*cluster\.db cannot be written: .*\n$/);
    });

    test.each([
      ['kind', 'apiVersion: apps/v1\nkind: Deploymnet\nmetadata: {name: a}', /did you mean Deployment\?/],
      ['field', `${configMap('b')}apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndta: {}`, /refused: .*dta/],
      ['YAML', `${configMap('b')}apiVersion: [v1\nkind: ConfigMap`, /line [567]: /],
    ])('a typo in a manifest (%s), with its place, and the cluster is as it was', async (_, text, because) => {
      // Pods of an earlier start come up again while the manifest is judged, and have to go again.
      const first = await start('-f', place.write('good.yaml', deployment(1, markedProgram(mark))));
      await first.says(/everything is ready/);
      expect(await stop(first)).toBe(0);

      const err = await refusal('-f', place.write('wrong.yaml', text));
      expect(err).toMatch(/^polder: wrong\.yaml, line \d+: /);
      expect(err).toMatch(because);
      expect(processesWith(mark)).toEqual([]);

      await start();
      await becomeProcesses(mark, 1);
      const client = await place.connect();
      const maps = (await client.list(ConfigMap, { namespace: 'default' })).items.map(({ metadata }) => metadata.name);
      expect(maps).not.toContain('b');
      await client.close();
    });

    test('a manifest that is not there, before anything is started', async () => {
      expect(await refusal('-f', 'none.yaml')).toBe('polder: there is no file or folder none.yaml\n');
      expect(() => statSync(place.dataDir)).toThrow(/ENOENT/);
    });

    test.each([
      ['--port', 'many', 'a port is a whole number from 1 to 65535'],
      ['--nodes', '0', 'a cluster has from 1 to 100 nodes'],
    ])('a value that makes no sense: %s %s', async (flag, value, rule) => {
      expect(await place.result('up', flag, value)).toMatchObject({ code: 1, err: expect.stringContaining(rule) });
    });
  });

  describe('is stopped', () => {
    test('with its pods: what helps others ends after them', async () => {
      const ended = join(place.folder, 'ended');
      const sidecar = markedProgram(mark, { onTerm: `echo sidecar >> ${ended}; exit 0` });
      const main = markedProgram(mark, { onTerm: `sleep 0.3; echo main >> ${ended}; exit 0` });
      const podSpec = `initContainers: [{name: helper, image: polder/host, restartPolicy: Always, command: ${sidecar}}]`;
      const up = await start('-f', place.write('pods.yaml', deployment(1, main, podSpec)));
      await up.says(/everything is ready/);
      await becomeProcesses(mark, 2);
      expect(await stop(up)).toBe(0);
      expect(readFileSync(ended, 'utf8')).toBe('main\nsidecar\n');
      expect(processesWith(mark)).toEqual([]);
    });

    test('while manifests are applied', async () => {
      const many = Array.from({ length: 300 }, (_, number) => configMap(`map-${number}`));
      const up = await start('-f', place.write('many.yaml', many.join('')));
      expect(await stop(up)).toBe(0);
      expect(up.said.err).toBe('');
      expect(messages(up).at(-1)).toBe('stopping');
      expect(messages(up)).not.toContain('everything is ready');
    });

    test('while pods start', async () => {
      const up = await start('-f', place.write('pods.yaml', deployment(5, markedProgram(mark))));
      await expect.poll(() => processesWith(mark).length, { interval: 5, timeout: 30_000 }).toBeGreaterThan(0);
      expect(await stop(up)).toBe(0);
      expect(up.said.err).toBe('');
      expect(processesWith(mark)).toEqual([]);
    });

    test('at once when somebody is tired of waiting', async () => {
      const up = await start('-f', place.write('pods.yaml', deployment(1, markedProgram(mark, { onTerm: ':' }))));
      await up.says(/everything is ready/);
      up.child.kill('SIGINT');
      await up.says(/stopping/);
      await becomeProcesses(mark, 1);
      up.child.kill('SIGINT');
      expect(await up.exit).toBe(130);
      await becomeProcesses(mark, 0);
    });
  });
});
