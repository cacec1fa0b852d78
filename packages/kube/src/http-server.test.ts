import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { TLSSocket } from 'node:tls';
import { Hono } from 'hono';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { admissionApp, validating } from './admission/index.ts';
import { createAuthority, issue, type Pair, watchFiles } from './certificates/index.ts';
import { VirtualClock } from './clock/index.ts';
import { serve } from './http-server.ts';
import type { Kind } from './kinds/index.ts';
import { silentLogger } from './log.ts';

const pods: Kind = { group: '', version: 'v1', kind: 'Pod', plural: 'pods', namespaced: true };
const now = Date.now();
const log = silentLogger;

let directory: string;
let clock: VirtualClock;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'certificates-'));
  clock = new VirtualClock();
});
afterEach(() => rmSync(directory, { recursive: true }));

/** As the kubelet does it: a new directory, and a link that is swapped. */
const mount = (name: string, { certificate, key }: Pair) => {
  mkdirSync(join(directory, name));
  writeFileSync(join(directory, name, 'tls.crt'), certificate);
  writeFileSync(join(directory, name, 'tls.key'), key);
  try {
    unlinkSync(join(directory, 'current'));
  } catch {
    // The first one.
  }
  symlinkSync(name, join(directory, 'current'));
};

const call = async (port: number, ca: string, agent = new Agent({ maxCachedSessions: 0 })) => {
  const body = JSON.stringify({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: { uid: 'u', operation: 'DELETE', kind: { group: '', version: 'v1', kind: 'Pod' }, object: null },
  });
  const sent = request({
    host: '127.0.0.1',
    port,
    path: '/validate',
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    ca,
    servername: 'hook.polder.svc',
    agent,
  });
  let name = '';
  sent.once('socket', (socket: TLSSocket) => {
    socket.once('secureConnect', () => (name = socket.getPeerCertificate().subject.CN));
  });
  sent.end(body);
  const [response] = await once(sent, 'response');
  return { name, answer: await text(response) };
};

test('swaps its certificate live, answers over TLS, and leaves no socket and no timer when closed', async () => {
  const authority = await createAuthority({ name: 'authority', validMs: 60_000, now });
  const pair = (name: string) =>
    issue(authority, {
      name,
      use: 'server',
      dnsNames: ['hook.polder.svc'],
      ipAddresses: ['127.0.0.1'],
      validMs: 60_000,
      now,
    });
  mount('first', await pair('first'));
  const certificates = watchFiles(join(directory, 'current'), { clock, log });
  const app = admissionApp({ webhooks: { '/validate': validating(pods, () => ({ allowed: true })) }, clock, log });
  const server = await serve(app, { certificates, clock, port: 0 });

  const first = await call(server.port, authority.certificate);
  expect(first.name).toBe('first');
  expect(JSON.parse(first.answer)).toMatchObject({ response: { uid: 'u', allowed: true } });

  mount('second', await pair('second'));
  await clock.advance(10_000);
  expect((await call(server.port, authority.certificate)).name).toBe('second');

  // A half-written pair is not served.
  writeFileSync(join(directory, 'second', 'tls.key'), (await pair('third')).key);
  await clock.advance(10_000);
  expect((await call(server.port, authority.certificate)).name).toBe('second');

  const agent = new Agent({ keepAlive: true });
  await call(server.port, authority.certificate, agent);
  await server.close();
  await certificates.stop();
  agent.destroy();
  expect(clock.pending).toBe(0);
  await expect(call(server.port, authority.certificate)).rejects.toThrow(/ECONNREFUSED/);
});

test('closes within its five seconds although somebody has connected and not finished the TLS handshake', async () => {
  const authority = await createAuthority({ name: 'authority', validMs: 60_000, now });
  const names = { name: 'first', dnsNames: ['hook.polder.svc'] };
  mount('first', await issue(authority, { ...names, use: 'server', validMs: 60_000, now }));
  const certificates = watchFiles(join(directory, 'current'), { clock, log });
  const server = await serve(new Hono(), { certificates, clock, port: 0 });
  const silent = connect(server.port, '127.0.0.1');
  const gone = once(silent, 'close');
  await once(silent, 'connect');
  // Connections are taken in their order: once this one is answered, the silent one was accepted.
  await call(server.port, authority.certificate);
  const closed = server.close();
  await clock.advance(5_000);
  await Promise.all([closed, gone]);
  await certificates.stop();
  expect(clock.pending).toBe(0);
});
