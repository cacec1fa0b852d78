import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { VirtualClock } from '../clock/index.ts';
import { inClusterConfig } from './in-cluster.ts';
import { kubeconfig } from './kubeconfig.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'polder-config-'));
});
afterEach(() => rm(folder, { recursive: true }));

const clock = new VirtualClock();

async function write(name: string, value: unknown): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, typeof value === 'string' ? value : stringify(value));
  return path;
}

const file = (cluster: object, user: object) => ({
  'current-context': 'here',
  clusters: [{ name: 'c', cluster: { server: 'https://api.example:6443/', ...cluster } }],
  users: [{ name: 'u', user }],
  contexts: [{ name: 'here', context: { cluster: 'c', user: 'u', namespace: 'team' } }],
});
const base64 = (text: string) => Buffer.from(text).toString('base64');

describe('a kubeconfig', () => {
  test('gives server, namespace, token and authority of its current context', async () => {
    const path = await write('config', file({ 'certificate-authority-data': base64('CA') }, { token: 'secret' }));
    const config = await kubeconfig([path], clock);
    expect(config).toMatchObject({ server: 'https://api.example:6443', namespace: 'team' });
    expect(await config.access()).toEqual({ authorization: 'Bearer secret', ca: 'CA' });
  });

  test('finds files relative to itself', async () => {
    await write('ca.crt', 'CA');
    await write('me.crt', 'CERT');
    await write('me.key', 'KEY');
    const user = { 'client-certificate': 'me.crt', 'client-key': 'me.key' };
    const config = await kubeconfig([await write('config', file({ 'certificate-authority': 'ca.crt' }, user))], clock);
    expect(await config.access()).toEqual({ ca: 'CA', cert: 'CERT', key: 'KEY' });
  });

  test('may be spread over several files, of which the first to name a thing wins', async () => {
    const { users, ...rest } = file({}, { token: 'first' });
    const paths = [
      await write('one', rest),
      await write('two', { users }),
      await write('three', file({}, { token: 'last' })),
    ];
    expect(await (await kubeconfig(paths, clock)).access()).toMatchObject({ authorization: 'Bearer first' });
  });

  test.each([
    [
      'a proxy',
      file({ 'proxy-url': 'http://proxy:8080' }, {}),
      /proxy-url http:\/\/proxy:8080: proxies are not supported/,
    ],
    ['an auth-provider', file({}, { 'auth-provider': {} }), /user u has auth-provider/],
    ['a missing context', { ...file({}, {}), 'current-context': 'typo' }, /no context named "typo"/],
    ['no context at all', {}, /no current-context/],
    ['something that is not YAML', '{', /is not YAML/],
  ])('with %s is refused with a reason', async (_, content, message) => {
    await expect(kubeconfig([await write('config', content)], clock)).rejects.toThrow(message);
  });
});

describe('an exec plugin', () => {
  const plugin = async (script: string) => {
    const command = await write('plugin', `#!/bin/sh\n${script}`);
    await chmod(command, 0o755);
    return { exec: { apiVersion: 'client.authentication.k8s.io/v1', command, interactiveMode: 'Never' } };
  };
  const credential = (token: string, expires: string) =>
    JSON.stringify({
      apiVersion: 'client.authentication.k8s.io/v1',
      kind: 'ExecCredential',
      status: { token, expirationTimestamp: expires },
    });

  test('is run once, and again when its credentials end or are refused', async () => {
    const clock = new VirtualClock();
    const soon = new Date(clock.now() + 3_600_000).toISOString();
    const user = await plugin(`echo run >> ${folder}/runs; cat <<'EOT'\n${credential('t', soon)}\nEOT`);
    const config = await kubeconfig([await write('config', file({}, user))], clock);
    const runs = async () => {
      await config.access();
      return (await readFile(join(folder, 'runs'), 'utf8')).split('\n').length - 1;
    };
    expect(await config.access()).toMatchObject({ authorization: 'Bearer t' });
    expect(await runs()).toBe(1);
    config.forget();
    expect(await runs()).toBe(2);
    await clock.advance(3_600_000);
    expect(await runs()).toBe(3);
  });

  test('that fails says what it said', async () => {
    const config = await kubeconfig(
      [await write('config', file({}, await plugin('echo please log in >&2; exit 3')))],
      clock,
    );
    await expect(config.access()).rejects.toThrow(/exited with 3: please log in/);
  });
});

describe('in a pod', () => {
  const env = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' };

  test('token and authority are read again once a minute, and at once after a refusal', async () => {
    const clock = new VirtualClock();
    await write('token', 'one\n');
    await write('ca.crt', 'CA');
    await write('namespace', 'polder');
    const config = await inClusterConfig(clock, env, folder);
    expect(config).toMatchObject({ server: 'https://[fd00::1]:443', namespace: 'polder' });
    await write('token', 'two\n');
    expect(await config.access()).toMatchObject({ authorization: 'Bearer one' });
    await clock.advance(60_000);
    expect(await config.access()).toMatchObject({ authorization: 'Bearer two', ca: 'CA' });
    await write('token', 'three\n');
    config.forget();
    expect(await config.access()).toMatchObject({ authorization: 'Bearer three' });
  });

  test('without a service account the first sentence says so', async () => {
    await expect(inClusterConfig(clock, env, folder)).rejects.toThrow(/service account is not mounted/);
    await expect(inClusterConfig(clock, {}, folder)).rejects.toThrow(/not running in a pod/);
  });
});
