import { once } from 'node:events';
import { connect, createServer, type TLSSocket } from 'node:tls';
import { createAuthority, expiryOf, issue, known, type Secret, type StatefulSet, unknown } from '@polder/kube';
import { describe, expect, test } from 'vitest';
import { aPod, look, NOW } from '../../../test/states.ts';
import type { QdrantCluster } from '../../kinds/index.ts';
import { DEFAULTS } from '../../settings.ts';
import { renewed } from '../issuing.ts';
import { certificateHosts, decoded, encode, hostOf } from '../objects/index.ts';
import type { Children, Observed, PodSeen } from '../observe.ts';
import { type ClusterPlan, planCluster, rules } from './index.ts';
import { situationOf } from './situation.ts';

const DAY_MS = 24 * 3_600_000;
const TLS = { replicas: 3, tls: { enabled: true } };

/** What a peer reads at its start. */
interface Files {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}

const filesOf = (secret: Secret | undefined): Files => ({
  cert: decoded(secret, 'cert.pem') ?? '',
  key: decoded(secret, 'key.pem') ?? '',
  ca: decoded(secret, 'cacert.pem') ?? '',
});

/** Two peers over a socket, each of which asks for the certificate of the other. */
async function doVerifyEachOther(server: Files, client: Files, host: string): Promise<boolean> {
  const listening = createServer({ ...server, requestCert: true, rejectUnauthorized: true });
  listening.on('tlsClientError', () => {}).listen(0, '127.0.0.1');
  await once(listening, 'listening');
  const address = listening.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const accepted = new Promise<boolean>((resolve) => {
    listening.once('secureConnection', (socket: TLSSocket) => {
      resolve(socket.authorized);
      socket.destroy();
    });
    listening.once('tlsClientError', () => resolve(false));
  });
  const called = new Promise<boolean>((resolve) => {
    const socket = connect({ ...client, host: '127.0.0.1', port, servername: host }, () => resolve(socket.authorized));
    socket.on('error', () => resolve(false)).on('close', () => resolve(false));
  });
  const [isAccepted, isCalled] = await Promise.all([accepted, called]);
  listening.close();
  return isAccepted && isCalled;
}

/** A cluster whose pods restart when the plan says so, and read the Secret of that moment. */
class Rolling {
  readonly cluster: QdrantCluster = look({ spec: TLS }).cluster;
  children: Pick<Children, 'authority' | 'certificate'> = { authority: undefined, certificate: undefined };
  #set: StatefulSet | undefined;
  readonly #pods = new Map<
    number,
    {
      readonly revision: string;
      readonly annotations: Readonly<Record<string, string>>;
      readonly files: Files;
      readonly startedAt: string;
    }
  >();
  now: number;

  constructor(now: number) {
    this.now = now;
  }

  get files(): readonly Files[] {
    return [...this.#pods.values()].map(({ files }) => files);
  }

  seen(): { readonly cluster: QdrantCluster; readonly observed: Observed } {
    const { cluster, observed } = look({ spec: TLS });
    const revision = this.#revision;
    const set = this.#set && {
      ...this.#set,
      metadata: { ...this.#set.metadata, generation: 1, labels: { clustername: 'vectors' } },
      status: { observedGeneration: 1, replicas: 3, updateRevision: revision },
    };
    const pods = observed.pods.flatMap((seen) => {
      const pod = this.#pods.get(seen.ordinal);
      const labels = { 'controller-revision-hash': pod?.revision ?? '' };
      const { status } = aPod(seen.ordinal);
      if (!pod) return [];
      const running = { startedAt: pod.startedAt };
      const containerStatuses = status?.containerStatuses?.map((one) => ({ ...one, state: { running } })) ?? [];
      const metadata = { ...seen.pod.metadata, labels, annotations: pod.annotations };
      return [
        { ...seen, peer: this.#heard(seen), pod: { ...seen.pod, metadata, status: { ...status, containerStatuses } } },
      ];
    });
    const children = { ...observed.children, ...this.children, set };
    return { cluster, observed: { ...observed, pods, children } };
  }

  plan(): ClusterPlan {
    const { cluster, observed } = this.seen();
    return planCluster(cluster, observed, DEFAULTS, new Date(this.now));
  }

  /** Nobody speaks with a peer whose certificate has ended; those that are left without a majority know no leader. */
  #heard({ ordinal, peer }: PodSeen): PodSeen['peer'] {
    const hasEnded = (at: number) => expiryOf(this.#pods.get(at)?.files.cert ?? '') <= this.now;
    if (hasEnded(ordinal)) return unknown('certificate has expired');
    const isAlone = [0, 1, 2].filter(hasEnded).length > 1;
    return peer.known && isAlone ? known({ ...peer.value, leader: undefined }) : peer;
  }

  get #revision(): string {
    return JSON.stringify(this.#set?.spec?.template?.metadata?.annotations ?? {});
  }

  /** One pass: what is wanted is applied, and the one step that may be done is done. */
  async pass(): Promise<readonly string[]> {
    const { objects, steps } = this.plan();
    const set = objects.find((object): object is StatefulSet => object.kind === 'StatefulSet');
    if (set) this.#set = set;
    if (set && this.#pods.size === 0) for (const ordinal of [0, 1, 2]) this.restart(ordinal);
    for (const step of steps) {
      if (step.do === 'renew-certificate') {
        this.children = { ...this.children, ...(await renewed(this.cluster, this.children, step.next, this.now)) };
      }
      if (step.do === 'restart-pod') this.restart(Number(step.pod.metadata.name.split('-')[1]));
    }
    return steps.map((step) => (step.do === 'renew-certificate' ? `${step.do} ${step.next}` : step.do));
  }

  restart(ordinal: number): void {
    const annotations = this.#set?.spec?.template?.metadata?.annotations ?? {};
    const startedAt = new Date(this.now).toISOString();
    const files = filesOf(this.children.certificate);
    this.#pods.set(ordinal, { revision: this.#revision, annotations, files, startedAt });
  }

  /** Its container starts anew in the same pod, and reads what the Secret has by then. */
  crash(ordinal: number): void {
    const pod = this.#pods.get(ordinal);
    if (!pod) return;
    const startedAt = new Date(this.now).toISOString();
    this.#pods.set(ordinal, { ...pod, startedAt, files: filesOf(this.children.certificate) });
  }

  async settle(atEveryMoment = async () => {}): Promise<readonly string[]> {
    const done: string[] = [];
    for (;;) {
      await atEveryMoment();
      const before = this.#revision;
      const steps = await this.pass();
      done.push(...steps);
      if (steps.length === 0 && this.#revision === before) return done;
    }
  }
}

const ROLLOUT = ['restart-pod', 'restart-pod', 'restart-pod'];

describe('certificates that are ours', () => {
  test('are there before any peer, end after a year, and their authority outlives them', async () => {
    const rolling = new Rolling(NOW.getTime());
    expect(rolling.plan().objects).toEqual([]);
    expect(await rolling.pass()).toEqual(['renew-certificate start-over']);
    expect(await rolling.settle()).toEqual([]);
    const { authority, certificate } = rolling.children;
    expect(expiryOf(decoded(certificate, 'cert.pem') ?? '')).toBe(NOW.getTime() + 365 * DAY_MS);
    expect(expiryOf(decoded(authority, 'ca.crt') ?? '')).toBe(NOW.getTime() + 3_650 * DAY_MS);
    expect(decoded(authority, 'ca.key')).toContain('PRIVATE KEY');
    expect(Object.keys(certificate?.data ?? {})).toEqual(['cert.pem', 'key.pem', 'cacert.pem']);
  });

  test('are renewed after two thirds of their time, and each peer restarts once with the new one', async () => {
    const rolling = new Rolling(NOW.getTime());
    await rolling.settle();
    rolling.now += (365 * DAY_MS * 2) / 3 - 1;
    expect(await rolling.settle()).toEqual([]);
    rolling.now += 2;
    expect(await rolling.settle()).toEqual(['renew-certificate issue', ...ROLLOUT]);
  });

  test('that ended while nobody looked are renewed, and peers that can not speak with each other restart one by one', async () => {
    const rolling = new Rolling(NOW.getTime());
    await rolling.settle();
    rolling.now += 366 * DAY_MS;
    expect(await rolling.pass()).toEqual(['renew-certificate issue']);
    const done: (readonly string[])[] = [];
    for (let pass = 0; pass < 6; pass++) {
      rolling.now += 60_000;
      done.push(await rolling.pass());
    }
    expect(done.filter((steps) => steps.length > 0)).toEqual(ROLLOUT.map((step) => [step]));
    expect(rolling.files.every(({ cert }) => expiryOf(cert) > rolling.now)).toBe(true);
  });

  test('that ended are not taken from a pod whose container started anew since: its restart waits for all others', async () => {
    const rolling = new Rolling(NOW.getTime());
    await rolling.settle();
    rolling.now += 366 * DAY_MS;
    await rolling.pass();
    rolling.now += 61_000;
    for (const ordinal of [1, 2]) rolling.crash(ordinal);
    await rolling.pass();
    const restarts = rolling
      .plan()
      .steps.flatMap((step) => (step.do === 'restart-pod' ? [step.pod.metadata.name] : []));
    expect(restarts).toEqual(['vectors-0']);
  });

  test('that ended on pods without volumes: it is told how to start them anew and lose nothing', async () => {
    const rolling = new Rolling(NOW.getTime());
    await rolling.settle();
    rolling.now += 366 * DAY_MS;
    await rolling.pass();
    await rolling.pass();
    const { cluster, observed } = rolling.seen();
    const { persistence: _, ...spec } = cluster.spec;
    const [pod] = observed.pods.map((seen) => seen.pod).slice(-1);
    const rule = rules.find(({ name }) => name === 'a-pod-without-a-volume-keeps-the-last-copy');
    const situation = situationOf({ ...cluster, spec }, observed, new Date(rolling.now));
    expect(pod && rule?.forbids({ do: 'restart-pod', because: 'of a test', pod }, situation)).toBe(
      "the certificate of vectors-2 has ended, and the pod has no volume; start its container anew, which keeps what it has: kubectl exec -n shop vectors-2 -c qdrant -- bash -c 'kill 1'",
    );
  });

  test('survive the loss of either Secret without a peer that the others do not know', async () => {
    const rolling = new Rolling(NOW.getTime());
    await rolling.settle();
    rolling.children = { ...rolling.children, certificate: undefined };
    expect(await rolling.settle()).toEqual(['renew-certificate issue', ...ROLLOUT]);
    rolling.children = { ...rolling.children, authority: undefined };
    expect(await rolling.settle()).toEqual([
      'renew-certificate add-authority',
      ...ROLLOUT,
      'renew-certificate issue',
      ...ROLLOUT,
      'renew-certificate drop-former',
      ...ROLLOUT,
    ]);
  });

  test('a bundle that was not written in time is written before anything else', async () => {
    const rolling = new Rolling(NOW.getTime());
    await rolling.settle();
    const { authority } = await renewed(rolling.cluster, rolling.children, 'add-authority', rolling.now);
    rolling.children = { ...rolling.children, ...(authority && { authority }) };
    expect((await rolling.settle()).slice(0, 5)).toEqual([
      'renew-certificate publish',
      ...ROLLOUT,
      'renew-certificate issue',
    ]);
  });

  test('at no moment of a change of the authority are there two peers that would not take each other, over real sockets', async () => {
    // Sockets know no other time than that of the machine: the authority is old enough today.
    const today = Date.now();
    const rolling = new Rolling(today - (3_650 * DAY_MS * 2) / 3);
    await rolling.settle();
    rolling.now = today - 30 * DAY_MS;
    expect(await rolling.settle()).toEqual(['renew-certificate issue', ...ROLLOUT]);
    rolling.now = today;
    const done = await rolling.settle(async () => {
      // Also with one that restarts by itself, and finds what is written at that moment.
      const all = [...rolling.files, filesOf(rolling.children.certificate)];
      const pairs = all.flatMap((server) => all.map((client) => ({ server, client })));
      const verdicts = await Promise.all(
        pairs.map(({ server, client }) => doVerifyEachOther(server, client, hostOf(rolling.cluster, 1))),
      );
      expect(verdicts).not.toContain(false);
    });
    expect(done).toEqual([
      'renew-certificate add-authority',
      ...ROLLOUT,
      'renew-certificate issue',
      ...ROLLOUT,
      'renew-certificate drop-former',
      ...ROLLOUT,
    ]);
    expect(await doVerifyEachOther(rolling.files[0] ?? NONE, rolling.files[1] ?? NONE, 'vectors-1.other.shop')).toBe(
      false,
    );
  }, 60_000);

  test('wait for a rollout that is under way, and the status says so', async () => {
    const rolling = new Rolling(NOW.getTime());
    await rolling.settle();
    rolling.children = { ...rolling.children, authority: undefined };
    await rolling.pass();
    await rolling.pass();
    expect(rolling.plan().status.holding).toContainEqual(
      'renew-certificate is held by peers-verify-each-other: not every peer has restarted with what was written last',
    );
  });
});

const NONE: Files = { cert: '', key: '', ca: '' };

describe("a user's own certificate", () => {
  const spec = { replicas: 3, tls: { enabled: true, secretName: 'mine' } };
  const { cluster } = look({ spec });
  const now = NOW.getTime();

  interface Given {
    readonly hosts?: readonly string[];
    readonly use?: 'server' | 'client' | 'peer';
    readonly validMs?: number;
    readonly files?: Readonly<Record<string, string | undefined>>;
  }

  async function secret({ hosts, use = 'peer', validMs = DAY_MS, files = {} }: Given = {}): Promise<Secret> {
    const authority = await createAuthority({ name: 'mine', validMs: 9 * DAY_MS, now });
    const pair = await issue(authority, { name: 'x', use, dnsNames: hosts ?? certificateHosts(cluster), validMs, now });
    const all = { 'cert.pem': pair.certificate, 'key.pem': pair.key, 'cacert.pem': authority.certificate, ...files };
    const data = Object.entries(all).flatMap(([name, text]) =>
      text === undefined ? [] : [[name, encode(text)] as const],
    );
    return {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace: 'shop', name: 'mine' },
      data: Object.fromEntries(data),
    };
  }

  function plan(certificate: Secret | undefined, trust?: string, at = NOW): ClusterPlan {
    const { observed } = look({ spec });
    const annotations = trust === undefined ? {} : { 'qdrant.operator/trust': trust };
    const pods = observed.pods.map((seen) => ({
      ...seen,
      pod: { ...seen.pod, metadata: { ...seen.pod.metadata, annotations } },
    }));
    const set = { ...observed.children, set: undefined, certificate };
    return planCluster(cluster, { ...observed, pods, children: set }, DEFAULTS, at);
  }

  const trustIn = ({ objects }: ClusterPlan): string | undefined =>
    objects.find((object): object is StatefulSet => object.kind === 'StatefulSet')?.spec?.template?.metadata
      ?.annotations?.['qdrant.operator/trust'];

  test.each<[string, Given | undefined, string]>([
    ['that is not there', undefined, 'there is no Secret mine with cert.pem, key.pem and cacert.pem'],
    ['without a key', { files: { 'key.pem': undefined } }, 'Secret mine has no key.pem; it needs cert.pem'],
    ['that is no certificate', { files: { 'cert.pem': 'x' } }, 'cert.pem of Secret mine is no certificate in PEM'],
    ['whose authority is none', { files: { 'cacert.pem': 'x' } }, 'cacert.pem of Secret mine is no certificate in PEM'],
    [
      'that names other hosts',
      { hosts: ['vectors.shop'] },
      'is not good for vectors-0.vectors-headless.shop; its names must cover',
    ],
    ['that is for servers alone', { use: 'server' }, 'may not be used for clientAuth'],
    ['that is for clients alone', { use: 'client' }, 'may not be used for serverAuth'],
    ['that has ended', { validMs: -1 }, 'cert.pem of Secret mine has ended on 2026-'],
  ])('%s is refused', async (_what, given, because) => {
    const { objects, steps, status } = plan(given && (await secret(given)));
    expect([objects, steps]).toEqual([[], []]);
    expect(status.errorMessage).toContain(because);
    expect(status.qdrantStatus).toBe('Error');
  });

  test('with the key of another one, or of an authority that it does not bring, is refused', async () => {
    const [one, other] = [await secret(), await secret()];
    const mixed = (file: string) => ({ ...one, data: { ...one.data, [file]: other.data?.[file] ?? '' } });
    expect(plan(mixed('key.pem')).status.errorMessage).toContain(
      'key.pem of Secret mine is not the key of its cert.pem',
    );
    expect(plan(mixed('cacert.pem')).status.errorMessage).toContain('is not signed by any authority in its cacert.pem');
  });

  test('is used as it is, and its change rolls peers', async () => {
    const one = plan(await secret());
    expect(one.status.reason).toBeUndefined();
    const hash = ({ objects }: ClusterPlan) =>
      objects.find((object): object is StatefulSet => object.kind === 'StatefulSet')?.spec?.template?.metadata
        ?.annotations?.['qdrant.operator/hash'];
    expect(hash(plan(await secret()))).not.toBe(hash(one));
  });

  test('of an authority that peers do not know yet is refused until both are trusted', async () => {
    const [old, next] = [await secret(), await secret()];
    const before = trustIn(plan(old));
    expect(plan(next, before).status).toMatchObject({ reason: 'CertificateUnknown' });
    expect(plan(next, before).status.errorMessage).toContain('put both authorities into cacert.pem first');
    const both = encode((decoded(old, 'cacert.pem') ?? '') + (decoded(next, 'cacert.pem') ?? ''));
    const bridge = { ...old, data: { ...old.data, 'cacert.pem': both } };
    expect(plan(bridge, before).status.reason).toBeUndefined();
    const between = trustIn(plan(bridge));
    expect(plan({ ...next, data: { ...next.data, 'cacert.pem': both } }, between).status.reason).toBeUndefined();
  });
});
