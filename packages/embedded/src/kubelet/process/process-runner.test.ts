import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Container, type PodSpec, systemClock } from '@polder/kube';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { environmentOf } from '../references/index.ts';
import { aPod, facts, holding } from '../references/testdata.ts';
import { type Launch, type RunningContainer, StartFailure, type Volume } from '../runner.ts';
import { ProcessRunner } from './process-runner.ts';

const PATH = '/usr/local/bin:/usr/bin:/bin';
let folder: string;
let runner: ProcessRunner;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'runner-'));
  runner = new ProcessRunner({ folder, path: PATH, clock: systemClock });
});
afterEach(async () => {
  await runner.close();
  rmSync(folder, { recursive: true });
});

function launchOf(container: Partial<Container>, more: Partial<Launch> = {}, spec: Partial<PodSpec> = {}): Launch {
  const whole = { name: 'c', ...container };
  const pod = aPod({ containers: [whole], ...spec });
  const environment = environmentOf(pod, whole, holding({}), facts);
  return { pod, container: whole, restartCount: 0, address: '127.0.0.1', changed: () => {}, ...environment, ...more };
}

const start = (container: Partial<Container>, more?: Partial<Launch>) => runner.start(launchOf(container, more));

/** A container of a shell script. */
const script = (text: string, more: Partial<Container> = {}) => start({ command: ['sh', '-c', text], ...more });

/** A container of a program for Node. */
const program = (text: string, more: Partial<Container> = {}) =>
  start({ command: [process.execPath, '-e', text], ...more });

const pod = aPod({});

async function logOf(asked: { readonly follow?: boolean; readonly previous?: boolean } = {}): Promise<string> {
  const answer = await runner.logs({
    pod: {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'web', uid: pod.metadata.uid ?? '', resourceVersion: '1', creationTimestamp: '' },
      status: { containerStatuses: [{ name: 'c', state: { running: {} } }] },
    },
    container: 'c',
    follow: false,
    previous: false,
    timestamps: false,
    tailLines: undefined,
    sinceSeconds: undefined,
    sinceTime: undefined,
    limitBytes: undefined,
    signal: undefined,
    ...asked,
  });
  if (typeof answer === 'string') return answer;
  const pieces: Uint8Array[] = [];
  for await (const piece of answer) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

/** What a container says until it ends. */
async function said(container: RunningContainer): Promise<string> {
  await container.ended;
  return logOf();
}

const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0) && !isZombie(pid);
  } catch {
    return false;
  }
};
/** Whoever has lost its parent is waited for by the first process of the machine, or by nobody. */
const isZombie = (pid: number) =>
  existsSync(`/proc/${pid}/stat`) && /\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));

const files = (name: string, contents: Readonly<Record<string, string>>): Volume => ({
  name,
  is: 'files',
  files: new Map(Object.entries(contents).map(([path, text]) => [path, { bytes: Buffer.from(text), mode: 0o755 }])),
});

describe('environment', () => {
  const printed = 'console.log(JSON.stringify(process.env))';

  test('a container knows its own variables, and none of ours', async () => {
    vi.stubEnv('OUR_SECRET', 'do not tell');
    const own = {
      A: '1',
      EMPTY: '',
      MULTI: 'a\nb "c" \'d\' $e `f`',
      'dotted.name': 'x',
      'dashed-name': 'y',
      PWD: '/nowhere',
      SHLVL: '7',
      UID: '12',
      PPID: '5',
      OPTIND: 'none',
      LD_LIBRARY_PATH: '/nowhere',
      IFS: ':',
      _: 'under',
    };
    const env = Object.entries(own).map(([name, value]) => ({ name, value: value.replaceAll('$', '$$$$') }));
    const seen: Readonly<Record<string, string>> = JSON.parse(await said(await program(printed, { env })));
    const home = join(folder, 'pods', pod.metadata.uid ?? '', 'containers', 'c', 'home');
    expect(seen).toEqual({
      ...own,
      PATH,
      POLDER_NAMESPACE: pod.metadata.namespace,
      POLDER_POD_IP: '127.0.0.1',
      HOME: home,
      TMPDIR: home.replace(/home$/, 'tmp'),
      HOSTNAME: 'web',
      LANG: 'C.UTF-8',
    });
    vi.unstubAllEnvs();
  });

  test('its variables win over what it is given', async () => {
    const env = [{ name: 'HOME', value: '/elsewhere' }];
    const seen: Readonly<Record<string, string>> = JSON.parse(await said(await program(printed, { env })));
    expect(seen['HOME']).toBe('/elsewhere');
  });

  test('it starts in an empty directory of its own, every time', async () => {
    const text = 'pwd; ls -A . "$TMPDIR"; touch a "$TMPDIR/b"';
    const first = await said(await script(text));
    await (await runner.start({ ...launchOf({ command: ['sh', '-c', text] }), restartCount: 1 })).ended;
    expect(await logOf()).toBe(first);
    expect(await logOf({ previous: true })).toBe(first);
  });

  test('without a command it runs the entrypoint of its image, with the arguments', async () => {
    await runner.close();
    const images = [{ images: 'tools/*', entrypoint: ['echo', 'main'] }];
    runner = new ProcessRunner({ folder, path: PATH, clock: systemClock, images });
    const image = 'tools/echo:1';
    expect(await said(await start({ image, args: ['a b', '--c'] }))).toBe('main a b --c\n');
    expect(await said(await start({ image, command: ['echo'], args: ['other'] }, { restartCount: 1 }))).toBe('other\n');
  });

  test('variables of the runner and of the image are there, and those of the container win', async () => {
    await runner.close();
    const images = [{ images: 'web', entrypoint: ['sh', '-c', 'echo $A $B $C'], env: { B: 'image', C: 'image' } }];
    runner = new ProcessRunner({ folder, path: PATH, clock: systemClock, images, env: { A: 'runner', B: 'runner' } });
    const env = [{ name: 'C', value: 'container' }];
    expect(await said(await start({ image: 'web', env }))).toBe('runner image container\n');
  });
});

describe('volumes', () => {
  test('mount paths lead to the volumes, in command, arguments, variables and working directory', async () => {
    await runner.prepare(pod, [files('settings', { 'app.conf': 'verbose' }), { name: 'work', is: 'empty' }]);
    const container = await start({
      command: ['sh', '-c', 'cat /etc/app/app.conf "$0" $CONF; pwd > /work/out; echo done >> /work/out'],
      args: ['/etc/app/app.conf'],
      env: [{ name: 'CONF', value: '/etc/app/app.conf' }],
      workingDir: '/work/sub',
      volumeMounts: [
        { name: 'settings', mountPath: '/etc/app/' },
        { name: 'work', mountPath: '/work' },
      ],
    });
    expect(await said(container)).toBe('verboseverboseverbose');
    const work = join(folder, 'pods', pod.metadata.uid ?? '', 'volumes', 'work');
    expect(readFileSync(join(work, 'out'), 'utf8')).toBe(`${work}/sub\ndone\n`);
  });

  test('a part of a volume can be mounted, also one that a variable names', async () => {
    await runner.prepare(pod, [files('settings', { run: '#!/bin/sh\necho ran' }), { name: 'work', is: 'empty' }]);
    const container = await start({
      command: ['sh', '-c', '/bin/run; echo data > /data/x'],
      env: [{ name: 'NAME', value: 'mine' }],
      volumeMounts: [
        { name: 'settings', mountPath: '/bin/run', subPath: 'run' },
        { name: 'work', mountPath: '/data', subPathExpr: 'of/$(NAME)' },
      ],
    });
    expect(await said(container)).toBe('ran\n');
    const file = join(folder, 'pods', pod.metadata.uid ?? '', 'volumes', 'work', 'of', 'mine', 'x');
    expect(readFileSync(file, 'utf8')).toBe('data\n');
  });

  test.each<[string, object]>([
    ['missing value for NONE', { subPathExpr: '$(NONE)' }],
    ["unable to provision SubPath `a/../../b`: must not contain '..'", { subPath: 'a/../../b' }],
    ['error SubPath `/etc` must not be an absolute path', { subPath: '/etc' }],
  ])('%s', async (message, mount) => {
    await runner.prepare(pod, [{ name: 'work', is: 'empty' }]);
    const volumeMounts = [{ name: 'work', mountPath: '/data', ...mount }];
    const failure = start({ command: ['true'], volumeMounts });
    await expect(failure).rejects.toThrow(new StartFailure('CreateContainerConfigError', message));
  });

  test('a container sees new contents of its volume', async () => {
    await runner.prepare(pod, [files('settings', { level: 'old' })]);
    const text = 'while ! grep -q new /etc/app/level; do sleep 0.02; done; cat /etc/app/level';
    const container = await script(text, { volumeMounts: [{ name: 'settings', mountPath: '/etc/app' }] });
    await runner.prepare(pod, [files('settings', { level: 'new' })]);
    expect(await said(container)).toBe('new');
  });

  test('a claim outlives its pod, everything else goes; and only we can look', async () => {
    const claim: Volume = { name: 'data', is: 'claim', volumeName: 'pv-1', path: join(folder, 'disk') };
    await runner.prepare(pod, [claim, { name: 'work', is: 'empty' }, files('secret', { key: 'k' })]);
    const container = await script(
      'echo kept > /data/x; echo gone > /work/x; mkdir -p /work/closed/in; chmod 0 /work/closed',
      {
        volumeMounts: [
          { name: 'data', mountPath: '/data' },
          { name: 'work', mountPath: '/work' },
        ],
      },
    );
    await container.ended;
    const pods = join(folder, 'pods');
    expect(statSync(pods).mode & 0o077).toBe(0);
    await runner.clean(pod);
    expect(readdirSync(pods)).toEqual([]);
    expect(readFileSync(join(folder, 'disk', 'x'), 'utf8')).toBe('kept\n');
    await runner.clean(pod);
  });
});

describe('the end', () => {
  test('with an exit code', async () => {
    const before = Date.now();
    const ending = await (await script('exit 3')).ended;
    expect(ending).toEqual({ exitCode: 3, at: expect.any(Number) });
    expect(ending.at).toBeGreaterThanOrEqual(before);
  });

  test('asked to end, it can end in its own way', async () => {
    const container = await program(
      "process.on('SIGTERM', () => process.exit(7)); console.log('up'); setInterval(() => {}, 1000)",
    );
    await expect.poll(() => logOf()).toBe('up\n');
    container.terminate();
    expect(await container.ended).toMatchObject({ exitCode: 7 });
  });

  test('by a signal', async () => {
    const deaf = await script("trap '' TERM; echo up; while :; do sleep 0.05; done");
    await expect.poll(() => logOf()).toBe('up\n');
    deaf.terminate();
    deaf.kill();
    expect(await deaf.ended).toMatchObject({ exitCode: 137, signal: 9 });
    const asked = await start({ command: ['sleep', '60'] }, { restartCount: 1 });
    asked.terminate();
    expect(await asked.ended).toMatchObject({ exitCode: 143, signal: 15 });
  });

  test('nothing that it started is left', async () => {
    const children = 'sleep 60 & echo $!; sleep 60 & echo $!;';
    const pids = async () => (await logOf()).trim().split('\n').map(Number);
    await (await script(`${children} exit 0`)).ended;
    for (const pid of await pids()) await expect.poll(() => isAlive(pid)).toBe(false);
    const killed = await start({ command: ['sh', '-c', `${children} wait`] }, { restartCount: 1 });
    await expect.poll(async () => (await pids()).length).toBe(2);
    killed.kill();
    await killed.ended;
    for (const pid of await pids()) await expect.poll(() => isAlive(pid)).toBe(false);
  });

  test('who has left the group and keeps the output open is not waited for', async () => {
    const text = `
      const child = require('node:child_process').spawn('sleep', ['60'], { detached: true, stdio: ['ignore', 1, 2] });
      console.log(child.pid);
      process.exit(0);`;
    const container = await program(text);
    expect(await container.ended).toMatchObject({ exitCode: 0 });
    process.kill(Number(await logOf()), 'SIGKILL');
  });

  test('after its end it is not signalled: the number may be that of another', async () => {
    const container = await script('true');
    await container.ended;
    container.terminate();
    container.kill();
    await expect(container.exec(['true'], new AbortController().signal)).rejects.toThrow('container is not running');
  });
});

describe('last words', () => {
  const ending = async (text: string, more: Partial<Container> = {}) =>
    (await (await script(text, more)).ended).message;
  const fallback = { terminationMessagePolicy: 'FallbackToLogsOnError' } as const;

  test('what is in the file, or its end', async () => {
    expect(await ending('echo bye > /dev/termination-log')).toBe('bye\n');
    const own = { terminationMessagePath: '/tmp/words', env: [{ name: 'WORDS', value: '/tmp/words' }] };
    expect(await ending('echo bye > $WORDS', own)).toBe('bye\n');
    expect(await ending('yes | head -c 5000 > /dev/termination-log')).toHaveLength(4096);
    expect(await ending('true')).toBeUndefined();
  });

  test('the end of the log after a failure, if the container wants that', async () => {
    expect(await ending('echo why >&2; exit 1', fallback)).toBe('why\n');
    expect(await ending('echo why >&2; exit 1')).toBeUndefined();
    expect(await ending('echo fine; exit 0', fallback)).toBeUndefined();
    expect(await ending('echo why; echo word > /dev/termination-log; exit 1', fallback)).toBe('word\n');
  });

  test('at most 80 lines and 2048 bytes of the log', async () => {
    expect((await ending('seq 1000; exit 1', fallback))?.split('\n')).toHaveLength(81);
    expect(await ending('yes 123456789 | head -n 1000 | tr -d "\\n"; exit 1', fallback)).toHaveLength(2048);
  });
});

describe('a container that can not start', () => {
  test.each<[string, Partial<Container>]>([
    ['exec: "no-such": executable file not found in $PATH', { command: ['no-such'] }],
    ['exec: "/no/such": stat /no/such: no such file or directory', { command: ['/no/such', 'x'] }],
    ['exec: "/etc/passwd": permission denied', { command: ['/etc/passwd'] }],
    ['exec: "/etc": is a directory', { command: ['/etc'] }],
    ['chdir to cwd ("/no/such") failed: no such file or directory', { command: ['true'], workingDir: '/no/such' }],
    ['the variable "A" contains a NUL character', { command: ['true'], env: [{ name: 'A', value: 'secret\0' }] }],
  ])('%s', async (message, container) => {
    const failure = start(container);
    await expect(failure).rejects.toThrow(
      expect.objectContaining({ reason: 'RunContainerError', message, exitCode: 128 }),
    );
    await expect(failure).rejects.toThrow(StartFailure);
  });

  test('has no command', async () => {
    const message = 'no command specified, and no entrypoint is known for image "web:1"';
    await expect(start({ image: 'web:1' })).rejects.toThrow(new StartFailure('RunContainerError', message));
  });
});

describe('commands and probes', () => {
  const never = new AbortController().signal;

  test('a command runs where the container runs', async () => {
    await runner.prepare(pod, [files('settings', { a: 'content' })]);
    const container = await script('echo in-home > x; sleep 60', {
      env: [{ name: 'A', value: 'a' }],
      volumeMounts: [{ name: 'settings', mountPath: '/etc/app' }],
    });
    const run = (text: string) => container.exec(['sh', '-c', text], never);
    await expect.poll(async () => (await run('cat x')).output).toBe('in-home\n');
    expect(await run('cat /etc/app/a; echo $A; echo oops >&2; echo end; exit 4')).toEqual({
      exitCode: 4,
      output: 'contenta\noops\nend\n',
    });
    await expect(container.exec(['no-such'], never)).rejects.toThrow(
      'exec: "no-such": executable file not found in $PATH',
    );
  });

  test('a command that takes too long is killed with all that it started', async () => {
    const container = await script('sleep 60');
    const timeout = new AbortController();
    const pids = join(folder, 'pids');
    const running = container.exec(['sh', '-c', `sleep 60 & echo $! > ${pids}; wait`], timeout.signal);
    await expect.poll(() => existsSync(pids) && readFileSync(pids, 'utf8')).toMatch(/\d+\n/);
    timeout.abort(new Error('too late'));
    await expect(running).rejects.toThrow('too late');
    await expect.poll(() => isAlive(Number(readFileSync(pids, 'utf8')))).toBe(false);
  });

  test('commands end with their container', async () => {
    const container = await script('sleep 60');
    const running = container.exec(['sleep', '60'], never);
    // The command has started once another one has started after it.
    await container.exec(['true'], never);
    container.kill();
    expect(await running).toEqual({ exitCode: 137, output: '' });
  });

  test('probes ask the container', async () => {
    const server = createServer((_, response) => response.writeHead(503).end());
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    const address = server.address();
    const port = address !== null && typeof address === 'object' ? address.port : 0;
    const container = await script('sleep 60', { env: [{ name: 'CODE', value: '1' }] });
    const because = 'HTTP probe failed with statuscode: 503';
    expect(await container.probe({ httpGet: { port } }, never)).toEqual({ is: 'unhealthy', because });
    const command = ['sh', '-c', 'echo no; exit $(CODE)'];
    expect(await container.probe({ exec: { command } }, never)).toEqual({ is: 'unhealthy', because: 'no\n' });
    expect(await container.probe({ exec: { command: ['true'] } }, never)).toEqual({ is: 'healthy' });
    server.close();
  });
});

describe('output', () => {
  test('of both streams is in the log, and can be followed until the end', async () => {
    const container = await script('echo out; echo err >&2; printf unfinished');
    const followed = await logOf({ follow: true });
    expect(followed.split('\n').toSorted()).toEqual(['err', 'out', 'unfinished']);
    await container.ended;
  });

  test('a flood costs no memory', async () => {
    const before = process.memoryUsage().arrayBuffers;
    const container = await script('yes "$(printf %0200d 0)" | head -c 150000000');
    let most = 0;
    const watch = setInterval(() => {
      most = Math.max(most, process.memoryUsage().arrayBuffers - before);
    }, 1);
    await container.ended;
    clearInterval(watch);
    // Most of it is garbage that nobody has collected yet.
    expect(most).toBeLessThan(100_000_000);
    const directory = join(folder, 'pods', pod.metadata.uid ?? '', 'containers', 'c');
    const logs = readdirSync(directory).filter((name) => name.startsWith('0.log'));
    expect(logs).toHaveLength(5);
    const sizes = logs.map((name) => statSync(join(directory, name)).size);
    expect(Math.max(...sizes)).toBeLessThan(11_000_000);
  });
});
