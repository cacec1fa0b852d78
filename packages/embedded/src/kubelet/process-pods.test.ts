/** Pods as processes of this machine, through the API alone. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import {
  Client,
  ConfigMap,
  type Container,
  EventsV1Event,
  PersistentVolumeClaim,
  Pod,
  type PodSpec,
  Secret,
  systemClock,
} from '@polder/kube';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { memoryStorage } from '../apiserver/index.ts';
import { type EmbeddedCluster, startCluster } from '../cluster.ts';
import { ProcessRunner } from './process/index.ts';

let folder: string;
let storage: ReturnType<typeof memoryStorage>;
let runner: ProcessRunner;
let cluster: EmbeddedCluster;
let client: Client;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'pods-'));
  storage = memoryStorage();
  await begin();
});
afterEach(async () => {
  await end();
  rmSync(folder, { recursive: true });
});

async function begin(): Promise<void> {
  const path = `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`;
  runner = new ProcessRunner({ folder, path, clock: systemClock });
  cluster = await startCluster({
    storage,
    images: [{ images: '*', runner }],
    provisioner: { pathOf: (volume) => join(folder, 'volumes', volume), onVolumeDeleted: async () => {} },
  });
  client = new Client({ transport: cluster.server.transport(), userAgent: 'user' });
  await cluster.ready;
}

async function end(): Promise<void> {
  await cluster.stop();
  await runner.close();
}

const inDefault = (name: string) => ({ namespace: 'default', name });
const ref = inDefault('a');
const shell = (script: string, more: Partial<Container> = {}): Container => ({
  name: 'c',
  image: 'polder/host',
  command: ['sh', '-c', script],
  ...more,
});
/** A server that answers 200 until its folder holds a file named `sick`. */
const SERVER = `
  const { existsSync } = require('node:fs');
  require('node:http').createServer((_, answer) => {
    answer.statusCode = existsSync('sick') ? 500 : 200;
    answer.end();
  }).listen(8080, process.env.POD_IP);
`;
const POD_IP = { name: 'POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } };

const run = (container: Container, spec: Partial<PodSpec> = {}) =>
  client.create(Pod, { metadata: ref, spec: { containers: [container], terminationGracePeriodSeconds: 5, ...spec } });
const main = async () => (await client.get(Pod, ref)).status?.containerStatuses?.[0];
const until = (isSo: () => Promise<void>) => vi.waitFor(isSo, { timeout: 15_000, interval: 50 });
const becomes = (expected: object) => until(async () => expect(await main()).toMatchObject(expected));
const phaseBecomes = (phase: string) =>
  until(async () => expect((await client.get(Pod, ref)).status?.phase).toBe(phase));
const isGone = () => until(() => expect(client.get(Pod, ref)).rejects.toMatchObject({ status: 404 }));
const log = async (options = {}) => (await Array.fromAsync(client.logs(ref, options))).map((line) => line.trimEnd());
const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0) && !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
};

test('a program gets its variables and files, and what it says can be read', async () => {
  await client.create(ConfigMap, { metadata: inDefault('app'), data: { greeting: 'hello' } });
  await client.create(Secret, { metadata: inDefault('key'), stringData: { word: 'sesame' } });
  const env = [
    { name: 'WORD', valueFrom: { secretKeyRef: { name: 'key', key: 'word' } } },
    { name: 'WHO', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
  ];
  const volumes = [{ name: 'config', configMap: { name: 'app' } }];
  const script = 'echo "$(cat "$CONFIG/greeting") $WHO $WORD"';
  const volumeMounts = [{ name: 'config', mountPath: '/etc/app' }];
  await run(shell(script, { env: [...env, { name: 'CONFIG', value: '/etc/app' }], volumeMounts }), {
    volumes,
    restartPolicy: 'Never',
  });
  await phaseBecomes('Succeeded');
  expect(await log()).toEqual(['hello a sesame']);
});

test('a log can be followed to the end of its container', async () => {
  await run(shell('echo one; sleep 0.3; echo two'), { restartPolicy: 'Never' });
  await becomes({ containerID: expect.any(String) });
  expect(await log({ follow: true })).toEqual(['one', 'two']);
});

test('after a crash the log of the run before can be read, and its last words are in the status', async () => {
  const script = 'if [ -e crashed ]; then echo better; exec sleep 60; fi; touch crashed; echo "no luck"; exit 3';
  await run(shell(script, { workingDir: folder, terminationMessagePolicy: 'FallbackToLogsOnError' }));
  await becomes({ restartCount: 1, ready: true });
  expect(await main()).toMatchObject({
    lastState: { terminated: { exitCode: 3, reason: 'Error', message: expect.stringMatching('no luck') } },
  });
  await until(async () => expect(await log()).toEqual(['better']));
  expect(await log({ previous: true })).toEqual(['no luck']);
});

describe('probes', () => {
  const PERIOD = { periodSeconds: 1, failureThreshold: 1, timeoutSeconds: 10 };

  test('a pod is ready while its readiness probe says so: by HTTP, and by a command', async () => {
    const node: Container = {
      name: 'c',
      image: 'polder/host',
      command: ['node', '-e', SERVER],
      workingDir: folder,
      env: [POD_IP],
      startupProbe: { tcpSocket: { port: 8080 }, periodSeconds: 1, failureThreshold: 30 },
      readinessProbe: { httpGet: { port: 8080 }, ...PERIOD },
      livenessProbe: { exec: { command: ['test', '!', '-e', 'dead'] }, ...PERIOD },
    };
    await run(node);
    await becomes({ ready: true, started: true, restartCount: 0 });
    execFileSync('touch', [join(folder, 'sick')]);
    await becomes({ ready: false, started: true, restartCount: 0 });
    execFileSync('touch', [join(folder, 'dead')]);
    await becomes({ restartCount: 1 });
    expect(await main()).toMatchObject({ lastState: { terminated: { exitCode: 143 } } });
    await until(async () => {
      const notes = (await client.list(EventsV1Event)).items.map(({ reason, note }) => `${reason}: ${note}`);
      expect(notes).toContain('Killing: Container c failed liveness probe, will be restarted');
      expect(notes).toContainEqual(expect.stringMatching(/^Unhealthy: /));
    });
  });

  test('a container that does not come up in time is restarted', async () => {
    await run(shell('exec sleep 60', { startupProbe: { exec: { command: ['false'] }, ...PERIOD } }));
    await until(async () => expect((await main())?.restartCount).toBe(1));
  });
});

test('hooks run after the start and before the end', async () => {
  const say = (word: string) => ({ exec: { command: ['sh', '-c', `echo ${word} >> "${folder}/said"`] } });
  const script = `trap 'echo stopping >> "${folder}/said"; exit 0' TERM; while :; do sleep 0.1; done`;
  await run(shell(script, { lifecycle: { postStart: say('started'), preStop: say('warned') } }));
  await until(async () => expect(readFileSync(join(folder, 'said'), 'utf8')).toBe('started\n'));
  await client.delete(Pod, ref);
  await isGone();
  expect(readFileSync(join(folder, 'said'), 'utf8')).toBe('started\nwarned\nstopping\n');
});

test('a container whose start hook fails is ended', async () => {
  await run(shell('exec sleep 60', { lifecycle: { postStart: { exec: { command: ['false'] } } } }));
  await becomes({ restartCount: 1 });
  const reasons = (await client.list(EventsV1Event)).items.map(({ reason }) => reason);
  expect(reasons).toContain('FailedPostStartHook');
});

test('a change of a ConfigMap reaches the program that runs', async () => {
  await client.create(ConfigMap, { metadata: inDefault('app'), data: { greeting: 'hello' } });
  const script = 'until grep -q goodbye "$0"; do sleep 0.1; done; cat "$0"';
  await run(
    {
      ...shell(''),
      command: ['sh', '-c', script, '/etc/app/greeting'],
      volumeMounts: [{ name: 'config', mountPath: '/etc/app' }],
    },
    { volumes: [{ name: 'config', configMap: { name: 'app' } }], restartPolicy: 'Never' },
  );
  await becomes({ ready: true });
  await client.patch(ConfigMap, inDefault('app'), { type: 'merge', body: { data: { greeting: 'goodbye' } } });
  await phaseBecomes('Succeeded');
  expect(await log()).toEqual(['goodbye']);
});

test('what a pod writes to its claim is there for the next one', async () => {
  await client.create(PersistentVolumeClaim, {
    metadata: inDefault('data'),
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  });
  const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }];
  const container = (script: string): Container => ({
    ...shell(''),
    command: ['sh', '-c', script, '/data/file'],
    volumeMounts: [{ name: 'data', mountPath: '/data' }],
  });
  await run(container('echo kept > "$0"'), { volumes, restartPolicy: 'Never' });
  await phaseBecomes('Succeeded');
  await client.delete(Pod, ref);
  await isGone();
  await run(container('cat "$0"'), { volumes, restartPolicy: 'Never' });
  await phaseBecomes('Succeeded');
  expect(await log()).toEqual(['kept']);
});

describe('an end', () => {
  const STUBBORN = 'trap "" TERM; echo $$$$; while :; do sleep 0.1; done';

  test('comes by force for a program that does not heed the grace period', async () => {
    await run(shell(STUBBORN), { terminationGracePeriodSeconds: 1 });
    await until(async () => expect(await log()).toHaveLength(1));
    const pid = Number((await log())[0]);
    expect(isAlive(pid)).toBe(true);
    await client.delete(Pod, ref);
    await isGone();
    expect(isAlive(pid)).toBe(false);
  });

  test('without grace is at once, and a pod of the same name starts when nothing is left of the first', async () => {
    await run(shell(STUBBORN), { terminationGracePeriodSeconds: 600 });
    await until(async () => expect(await log()).toHaveLength(1));
    const pid = Number((await log())[0]);
    await client.delete(Pod, ref, { gracePeriodSeconds: 0 });
    await run(shell(`kill -0 ${pid} 2> /dev/null && echo both || echo alone`), { restartPolicy: 'Never' });
    await phaseBecomes('Succeeded');
    expect(await log()).toEqual(['alone']);
  });

  test('of the cluster is the end of all its programs', async () => {
    await run(shell(STUBBORN), { terminationGracePeriodSeconds: 1 });
    await until(async () => expect(await log()).toHaveLength(1));
    const pid = Number((await log())[0]);
    await end();
    expect(isAlive(pid)).toBe(false);
    await begin();
  });
});

describe('after a restart of the program', () => {
  test('programs are started again, and their count tells', async () => {
    await run(shell('exec sleep 60'));
    await becomes({ ready: true, restartCount: 0 });
    await end();
    await begin();
    await becomes({ ready: true, restartCount: 1 });
    expect((await main())?.lastState?.terminated).toMatchObject({ reason: 'Unknown', exitCode: 255 });
  });

  test('a pod that runs only once has failed', async () => {
    await run(shell('exec sleep 60'), { restartPolicy: 'Never' });
    await becomes({ ready: true });
    await end();
    await begin();
    await phaseBecomes('Failed');
    expect((await main())?.state?.terminated).toMatchObject({ reason: 'Unknown', exitCode: 255 });
  });
});

test('a program that is not there is said to be missing', async () => {
  await run({ name: 'c', image: 'polder/host', command: ['no-such-program'] });
  await becomes({ lastState: { terminated: { exitCode: 128, reason: 'StartError' } } });
  expect((await main())?.lastState?.terminated?.message).toContain('no-such-program');
});
