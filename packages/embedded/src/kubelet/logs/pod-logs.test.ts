import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { VirtualClock } from '@polder/kube';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { PodLogRequest } from '../../apiserver/index.ts';
import { TestServer } from '../../apiserver/test-server.ts';
import { ContainerLogs } from './container-logs.ts';
import { podLogs } from './pod-logs.ts';

let directory: string;
let clock: VirtualClock;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'logs-'));
  clock = new VirtualClock();
});
afterEach(() => rmSync(directory, { recursive: true }));

async function textOf(pieces: AsyncIterable<Uint8Array>): Promise<string> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(piece);
  return Buffer.concat(all).toString();
}

const request = (status: object, more: Partial<PodLogRequest> = {}): PodLogRequest => ({
  pod: {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'web',
      namespace: 'shop',
      uid: 'u',
      resourceVersion: '1',
      creationTimestamp: '2026-01-01T00:00:00Z',
    },
    status,
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
  ...more,
});
const running = { containerStatuses: [{ name: 'c', state: { running: {} } }] };
const waiting = (reason: string) => ({ containerStatuses: [{ name: 'c', state: { waiting: { reason } } }] });

async function shown(logs: ContainerLogs, asked: PodLogRequest): Promise<string> {
  const answer = await podLogs(logs, (uid, container) => join(directory, uid, container), clock)(asked);
  return typeof answer === 'string' ? answer : textOf(answer);
}

async function aRun(logs: ContainerLogs, run: number) {
  logs.begin(join(directory, 'u', 'c'), run);
  await logs.write(join(directory, 'u', 'c'), run, 'stdout', Buffer.from(`run ${run}\n`));
  return { end: () => logs.end(join(directory, 'u', 'c'), run) };
}

test('the run that goes on, and with --previous the one before', async () => {
  const logs = new ContainerLogs(clock);
  await (await aRun(logs, 0)).end();
  const { end } = await aRun(logs, 1);
  expect(await shown(logs, request(running))).toBe('run 1\n');
  expect(await shown(logs, request(running, { previous: true }))).toBe('run 0\n');
  // The status of the run before it: the files know better.
  expect(await shown(logs, request(waiting('CrashLoopBackOff'), { previous: true }))).toBe('run 0\n');
  await end();
});

test('between two runs the one that crashed is the newest, and the previous one', async () => {
  const logs = new ContainerLogs(clock);
  await (await aRun(logs, 0)).end();
  await (await aRun(logs, 1)).end();
  expect(await shown(logs, request(waiting('CrashLoopBackOff')))).toBe('run 1\n');
  expect(await shown(logs, request(waiting('CrashLoopBackOff'), { previous: true }))).toBe('run 1\n');
});

test('--since counts back from now', async () => {
  const logs = new ContainerLogs(clock);
  await (await aRun(logs, 0)).end();
  await clock.advance(10_000);
  expect(await shown(logs, request(running, { sinceSeconds: 11 }))).toBe('run 0\n');
  expect(await shown(logs, request(running, { sinceSeconds: 9 }))).toBe('');
});

test.each([
  ['previous terminated container "c" in pod "web" not found', running, true],
  ['container "c" in pod "web" is not available', {}, false],
  ['container "c" in pod "web" is waiting to start: ContainerCreating', waiting('ContainerCreating'), false],
  [
    'container "c" in pod "web" is waiting to start: trying and failing to pull image',
    waiting('ImagePullBackOff'),
    false,
  ],
])('%s', async (message, status, previous) => {
  const logs = new ContainerLogs(clock);
  if (status === running) await (await aRun(logs, 0)).end();
  await expect(shown(logs, request(status, { previous }))).rejects.toThrow(
    expect.objectContaining({ message, code: 400 }),
  );
});

test('the API server hands out what is in the files, as it was asked', async () => {
  const logs = new ContainerLogs(clock);
  const directoryOf = (uid: string, container: string) => join(directory, uid, container);
  const server = new TestServer({ podLogs: podLogs(logs, directoryOf, clock) });
  const spec = { nodeName: 'n', containers: [{ name: 'c', image: 'x' }] };
  const pods = '/api/v1/namespaces/default/pods';
  const { metadata } = await server.must('POST', pods, { metadata: { name: 'web' }, spec });
  const home = directoryOf(metadata.uid ?? '', 'c');
  logs.begin(home, 0);
  await logs.write(home, 0, 'stdout', Buffer.from('one\ntwo\n'));
  expect((await server.call('GET', `${pods}/web/log?tailLines=1&timestamps=true`)).text).toBe(
    '2026-01-01T00:00:00.000000000Z two\n',
  );
  expect((await server.call('GET', `${pods}/web/log?limitBytes=5`)).text).toBe('one\nt');
  const following = server.call('GET', `${pods}/web/log?follow=true`);
  await logs.write(home, 0, 'stderr', Buffer.from('three\n'));
  await logs.end(home, 0);
  expect((await following).text).toBe('one\ntwo\nthree\n');
  const { status, text } = await server.call('GET', `${pods}/web/log?previous=true`);
  expect(status).toBe(400);
  expect(text).toContain('previous terminated container \\"c\\" in pod \\"web\\" not found');
});
