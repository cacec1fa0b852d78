import { X509Certificate } from 'node:crypto';
import { createApiServer } from '@polder/embedded';
import { beforeEach, describe, expect, test } from 'vitest';
import { ObservedTransport } from '../../test/observed-transport.ts';
import { Client } from '../client/index.ts';
import { VirtualClock } from '../clock/index.ts';
import { Secret, ValidatingWebhookConfiguration } from '../kinds/index.ts';
import { silentLogger } from '../log.ts';
import { managedCertificates } from './managed.ts';
import { certificatesIn, createAuthority, expiryOf, isIssuedBy, isPair, issue } from './pair.ts';
import { heldIn } from './secret.ts';
import type { CertificateSource } from './source.ts';

const DAY = 24 * 60 * 60_000;
const service = { namespace: 'default', name: 'hook' };
const secret = { namespace: 'default', name: 'webhook' };
const configuration = { name: 'polder' };
const webhook = (name: string) =>
  ({ name, clientConfig: { service }, sideEffects: 'None', admissionReviewVersions: ['v1'] }) as const;

let clock: VirtualClock;
let transport: ObservedTransport;
let user: Client;
let stop: AbortController;
beforeEach(async () => {
  clock = new VirtualClock();
  const server = createApiServer({ clock });
  transport = new ObservedTransport(server.transport());
  user = new Client({ transport: server.transport(), userAgent: 'user', clock });
  stop = new AbortController();
  await user.create(ValidatingWebhookConfiguration, {
    metadata: configuration,
    webhooks: [webhook('a.polder.io'), webhook('b.polder.io')],
  });
});

const start = () =>
  managedCertificates(
    {
      client: new Client({ transport, userAgent: 'test', clock }),
      clock,
      log: silentLogger,
      secret,
      services: [service],
      trustedBy: [
        { kind: 'ValidatingWebhookConfiguration', ...configuration },
        { kind: 'CustomResourceDefinition', name: 'not.installed' },
      ],
    },
    stop.signal,
  );

const bundles = async () => {
  const { webhooks = [] } = await user.get(ValidatingWebhookConfiguration, configuration);
  return webhooks.map(({ clientConfig }) =>
    certificatesIn(Buffer.from(clientConfig.caBundle ?? '', 'base64').toString()),
  );
};
const held = async () => {
  const content = heldIn(await user.get(Secret, secret));
  if (!content) throw new Error('the Secret is not whole');
  return content;
};
const isTrusted = async ({ current: { certificate } }: CertificateSource) =>
  (await bundles()).every((bundle) => bundle.some((authority) => isIssuedBy(certificate, authority)));

/** Making keys takes real time, which the virtual clock does not see: it moves on in small steps until it is done. */
const eventually = async (done: () => boolean | Promise<boolean>) => {
  while (!(await done())) await clock.advance(1_000);
};

describe('a pair', () => {
  const now = Date.UTC(2026, 5, 1);

  test('is signed, named, backdated by a minute, and ends with its authority at the latest', async () => {
    const authority = await createAuthority({ name: 'root', validMs: 10 * DAY, now });
    const pair = await issue(authority, {
      name: 'server',
      use: 'server',
      dnsNames: ['a.b.svc'],
      ipAddresses: ['127.0.0.1', '::1'],
      validMs: 90 * DAY,
      now,
    });
    const certificate = new X509Certificate(pair.certificate);
    expect(isPair(pair)).toBe(true);
    expect(isIssuedBy(pair.certificate, authority.certificate)).toBe(true);
    expect(certificate.checkHost('a.b.svc')).toBe('a.b.svc');
    expect(certificate.checkIP('127.0.0.1')).toBe('127.0.0.1');
    expect(certificate.checkIP('::1')).toBe('::1');
    expect(certificate.validFromDate.getTime()).toBe(now - 60_000);
    expect(expiryOf(pair.certificate)).toBe(now + 10 * DAY);
    expect(certificate.ca).toBe(false);
    expect(new X509Certificate(authority.certificate).ca).toBe(true);
  });

  test('of a client carries its groups', async () => {
    const authority = await createAuthority({ name: 'root', validMs: DAY, now });
    const { certificate } = await issue(authority, {
      name: 'admin',
      use: 'client',
      organizations: ['system:masters'],
      validMs: DAY,
      now,
    });
    expect(new X509Certificate(certificate).subject).toBe('O=system:masters\nCN=admin');
    expect(new X509Certificate(certificate).keyUsage).toEqual(['1.3.6.1.5.5.7.3.2']);
  });
});

describe('managed certificates', () => {
  test('are made by whoever comes first, trusted before they are served, and the same for all', async () => {
    const [one, two] = await Promise.all([start(), start()]);
    expect(one.current).toEqual(two.current);
    expect(await isTrusted(one)).toBe(true);
    expect(new X509Certificate(one.current.certificate).checkHost('hook.default.svc')).toBe('hook.default.svc');
    expect((await user.get(Secret, secret)).type).toBe('kubernetes.io/tls');
    await Promise.all([one.stop(), two.stop()]);
    expect(clock.pending).toBe(0);
  });

  test('cause no writes while nothing is due', async () => {
    const one = await start();
    await clock.advance(60_000);
    transport.requests.length = 0;
    await clock.advance(3_600_000);
    expect(transport.requests.filter((request) => !request.startsWith('GET'))).toEqual([]);
    await one.stop();
  });

  test('put the bundle back where somebody wiped it', async () => {
    const one = await start();
    const body = { webhooks: [webhook('c.polder.io')] };
    await user.patch(ValidatingWebhookConfiguration, configuration, { type: 'merge', body });
    await clock.advance(60_000);
    expect(await isTrusted(one)).toBe(true);
    await one.stop();
  });

  test('rotate without a restart, and at no moment is a certificate served that is not trusted', async () => {
    const before = await start();
    const first = before.current;
    const old = (await held()).authorities[0];
    await before.stop();
    await clock.advance(83 * DAY - 60_000);

    const one = await start();
    const served: Promise<boolean>[] = [];
    one.subscribe(() => served.push(isTrusted(one)));
    await clock.advance(30_000);
    expect((await held()).authorities).toEqual([old]);

    await eventually(async () => (await held()).authorities.length === 2);
    expect((await held()).authorities[1]).toBe(old);
    await eventually(async () => (await bundles()).every((bundle) => bundle.length === 2));
    expect(one.current).toEqual(first);

    await eventually(() => one.current.certificate !== first.certificate);
    // API servers hear of a new bundle in their own time: it is used in a later pass than the one that put it in place.
    const trusted = transport.requests.findLastIndex((request) => request.startsWith('PATCH'));
    const issued = transport.requests.findLastIndex((request) => request.startsWith('PUT'));
    expect(transport.requests.slice(trusted, issued)).toContain('GET /api/v1/namespaces/default/secrets/webhook');
    expect(isIssuedBy(one.current.certificate, (await held()).authorities[0])).toBe(true);
    expect(isIssuedBy(first.certificate, (await held()).authorities[0])).toBe(false);
    expect(await Promise.all(served)).toEqual([true]);
    await one.stop();
    expect(clock.pending).toBe(0);

    await clock.advance(8 * DAY);
    const after = await start();
    expect(after.current).toEqual(one.current);
    expect((await held()).authorities).toHaveLength(1);
    expect((await bundles()).map((bundle) => bundle.length)).toEqual([1, 1]);
    expect(await isTrusted(after)).toBe(true);
    await after.stop();
  });

  test('start over when everything has ended while nobody looked', async () => {
    const one = await start();
    const first = one.current;
    await one.stop();
    await clock.advance(200 * DAY);
    const two = await start();
    expect(two.current).not.toEqual(first);
    expect(expiryOf(two.current.certificate)).toBeGreaterThan(clock.now());
    expect(await isTrusted(two)).toBe(true);
    await two.stop();
  });

  test('give up when they are told to', async () => {
    transport.before = () => {
      throw new Error('away');
    };
    const starting = start();
    await clock.advance(5_000);
    stop.abort(new Error('stopped'));
    await expect(starting).rejects.toThrow('stopped');
    expect(clock.pending).toBe(0);
  });
});
