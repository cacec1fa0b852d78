import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, ConfigMap, kubeconfig, socketTransport } from '@polder/kube';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import manifest from '../package.json' with { type: 'json' };

const PROGRAM = join(import.meta.dirname, '../../../polder');

let folder: string;
const running: ChildProcess[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'polder-'));
});
afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

/** The program as a user starts it; what it has said so far is in `out` and `err`. */
function polder(...args: readonly string[]) {
  const child = spawn(PROGRAM, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  running.push(child);
  const said = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said.out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said.err += text));
  const exit = once(child, 'close').then(([code]: unknown[]) => code);
  return { child, said, exit };
}

const result = async (...args: readonly string[]) => {
  const { said, exit } = polder(...args);
  return { code: await exit, ...said };
};

test('tells its version and its commands', async () => {
  expect(await result('--version')).toEqual({ code: 0, out: `${manifest.version}\n`, err: '' });
  const help = await result('--help');
  expect(help.code).toBe(0);
  for (const command of ['up', 'crds']) expect(help.out).toMatch(new RegExp(`^ {2}${command}\\b`, 'm'));
});

test('answers a typo with what was meant', async () => {
  const { code, err } = await result('upp');
  expect(code).toBe(1);
  expect(err).toContain('Did you mean up?');
});

describe('up', () => {
  const start = async (...args: readonly string[]) => {
    const up = polder('up', '--no-operator', ...args);
    await expect.poll(() => up.said.out + up.said.err, { timeout: 15_000 }).toMatch(/is ready at|polder: /);
    return up;
  };
  const path = () => join(folder, '.polder', 'kubeconfig');
  const connect = async () =>
    new Client({ transport: socketTransport(await kubeconfig([path()])), userAgent: 'polder/test' });

  test('serves an API that only its owner can reach, and takes it away when it is stopped', async () => {
    const { child, said, exit } = await start();
    expect(said.out).toContain(`export KUBECONFIG=${path()}`);
    expect(statSync(path()).mode & 0o777).toBe(0o600);
    expect(readFileSync(path(), 'utf8')).toMatch(/server: https:\/\/127\.0\.0\.1:/);
    const client = await connect();
    expect(await client.raw('/readyz?verbose').catch(String)).not.toBe('');
    await client.close();
    child.kill('SIGINT');
    expect(await exit).toBe(0);
    expect(() => statSync(path())).toThrow(/ENOENT/);
  });

  test('loses nothing that it has acknowledged when it is killed', async () => {
    const first = await start();
    const client = await connect();
    const metadata = { namespace: 'default', name: 'kept' };
    await client.create(ConfigMap, { metadata, data: { state: 'written' } });
    await client.close();
    first.child.kill('SIGKILL');
    await first.exit;
    await start();
    const again = await connect();
    expect((await again.get(ConfigMap, metadata)).data).toEqual({ state: 'written' });
    await again.close();
  });

  test('refuses a second instance on the same data, in one sentence', async () => {
    await start();
    const { code, out, err } = await result('up', '--no-operator');
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(/^polder: .*cluster\.db.*another server.*\n$/);
  });

  test('refuses a port in use, in one sentence', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const address = taken.address();
    const port = typeof address === 'object' && address ? String(address.port) : '';
    const { code, err } = await result('up', '--no-operator', '--port', port);
    taken.close();
    expect(code).toBe(1);
    expect(err).toBe(`polder: cannot listen on 127.0.0.1:${port}: the port is in use\n`);
  });

  test('says what a port is, and that there is nothing to operate yet', async () => {
    expect((await result('up', '--no-operator', '--port', 'many')).err).toContain('a whole number from 1 to 65535');
    expect(await result('up')).toMatchObject({ code: 1, err: expect.stringContaining('polder up --no-operator') });
  });
});
