import { X509Certificate } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { ObjectServer } from '../../test/object-server.ts';
import { Client } from '../client/index.ts';
import { VirtualClock } from '../clock/index.ts';
import type { Kind, KubernetesObject } from '../kinds/index.ts';
import { silentLogger } from '../log.ts';
import { managedCertificates } from './managed.ts';
import { certificatesIn, createAuthority, expiryOf, isIssuedBy, isPair, issue } from './pair.ts';
import { heldIn, SECRETS } from './secret.ts';
import type { CertificateSource } from './source.ts';

const DAY = 24 * 60 * 60_000;
const secret = { namespace: 'polder', name: 'webhook' };

interface Configuration extends KubernetesObject {
  readonly webhooks: readonly { readonly name: string; readonly clientConfig: { readonly caBundle?: string } }[];
}
const configurations: Kind<Configuration> = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  kind: 'ValidatingWebhookConfiguration',
  plural: 'validatingwebhookconfigurations',
  namespaced: false,
};

let clock: VirtualClock;
let server: ObjectServer;
let stop: AbortController;
beforeEach(() => {
  clock = new VirtualClock();
  server = new ObjectServer();
  stop = new AbortController();
  server.put(configurations, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: 'polder' },
    webhooks: [
      { name: 'a', clientConfig: {} },
      { name: 'b', clientConfig: {} },
    ],
  });
});

const start = () =>
  managedCertificates(
    {
      client: new Client({ transport: server, userAgent: 'test', clock }),
      clock,
      log: silentLogger,
      secret,
      services: [{ namespace: 'polder', name: 'hook' }],
      trustedBy: [
        { kind: 'ValidatingWebhookConfiguration', name: 'polder' },
        { kind: 'CustomResourceDefinition', name: 'not.installed' },
      ],
    },
    stop.signal,
  );

const bundles = () =>
  (server.at(configurations, { name: 'polder' })?.webhooks ?? []).map(({ clientConfig }) =>
    certificatesIn(Buffer.from(clientConfig.caBundle ?? '', 'base64').toString()),
  );
const held = () => {
  const found = server.at(SECRETS, secret);
  const content = found && heldIn(found);
  if (!content) throw new Error('the Secret is not whole');
  return content;
};
const isTrusted = ({ current }: CertificateSource) =>
  bundles().every((bundle) => bundle.some((authority) => isIssuedBy(current.certificate, authority)));

/** Making keys takes real time, which the virtual clock does not see: it moves on in small steps until it is done. */
const eventually = async (done: () => boolean) => {
  while (!done()) await clock.advance(1_000);
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
    expect(isTrusted(one)).toBe(true);
    expect(new X509Certificate(one.current.certificate).checkHost('hook.polder.svc')).toBe('hook.polder.svc');
    expect(server.at(SECRETS, secret)?.type).toBe('kubernetes.io/tls');
    await Promise.all([one.stop(), two.stop()]);
    expect(clock.pending).toBe(0);
  });

  test('cause no writes while nothing is due', async () => {
    const one = await start();
    await clock.advance(60_000);
    server.requests.length = 0;
    await clock.advance(3_600_000);
    expect(server.requests.filter((request) => !request.startsWith('GET'))).toEqual([]);
    await one.stop();
  });

  test('put the bundle back where somebody wiped it', async () => {
    const one = await start();
    const configuration = server.at(configurations, { name: 'polder' });
    if (!configuration) throw new Error('no configuration');
    server.put(configurations, { ...configuration, webhooks: [{ name: 'c', clientConfig: {} }] });
    await clock.advance(60_000);
    expect(isTrusted(one)).toBe(true);
    await one.stop();
  });

  test('rotate without a restart, and at no moment is a certificate served that is not trusted', async () => {
    const before = await start();
    const first = before.current;
    const old = held().authorities[0];
    await before.stop();
    await clock.advance(83 * DAY - 60_000);

    const one = await start();
    const served: boolean[] = [];
    one.subscribe(() => served.push(isTrusted(one)));
    await clock.advance(30_000);
    expect(held().authorities).toEqual([old]);

    await eventually(() => held().authorities.length === 2);
    expect(held().authorities[1]).toBe(old);
    await eventually(() => bundles().every((bundle) => bundle.length === 2));
    expect(one.current).toEqual(first);

    await eventually(() => one.current.certificate !== first.certificate);
    expect(isIssuedBy(one.current.certificate, held().authorities[0])).toBe(true);
    expect(isIssuedBy(first.certificate, held().authorities[0])).toBe(false);
    expect(served).toEqual([true]);
    await one.stop();
    expect(clock.pending).toBe(0);

    await clock.advance(8 * DAY);
    const after = await start();
    expect(after.current).toEqual(one.current);
    expect(held().authorities).toHaveLength(1);
    expect(bundles().map((bundle) => bundle.length)).toEqual([1, 1]);
    expect(isTrusted(after)).toBe(true);
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
    expect(isTrusted(two)).toBe(true);
    await two.stop();
  });

  test('give up when they are told to', async () => {
    server.before = () => {
      throw new Error('away');
    };
    const starting = start();
    await clock.advance(5_000);
    stop.abort(new Error('stopped'));
    await expect(starting).rejects.toThrow('stopped');
    expect(clock.pending).toBe(0);
  });
});
