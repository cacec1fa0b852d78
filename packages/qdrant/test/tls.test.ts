import { type Place, type QdrantStandIn, qdrantStandIn, type RunningPeer } from '@polder/doubles/qdrant';
import { createAuthority, issue, type Secret, systemClock } from '@polder/kube';
import { afterEach, expect, test } from 'vitest';
import { PeerClient, sendOverHttp } from '../src/api/index.ts';
import { renewed } from '../src/cluster/issuing.ts';
import { certificateHosts, decoded, encode, hostOf, urlOf } from '../src/cluster/objects/index.ts';
import { aCluster } from './states.ts';

const cluster = aCluster({ tls: { enabled: true } });
const clock = systemClock;
const running: RunningPeer[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((peer) => peer.close()));
});

interface Container {
  readonly standIn: QdrantStandIn;
  readonly said: string[];
  /** Where the ports of each peer are. */
  readonly addresses: Map<string, string>;
}

const aNode = (): Container => ({
  standIn: qdrantStandIn({ clock, random: Math.random }),
  said: [],
  addresses: new Map(),
});

/** A container as the operator makes it, with the Secret in its folder `tls`. */
async function run(node: Container, ordinal: number, { data = {} }: Secret): Promise<void> {
  const uri = (at: number) => `https://${hostOf(cluster, at)}:6335`;
  const place: Place = {
    container: { image: 'qdrant/qdrant:v1.19.0', volumeMounts: [{ mountPath: '/qdrant/tls' }] },
    address: `127.0.0.${10 + ordinal}`,
    env: new Map([
      ['QDRANT__CLUSTER__ENABLED', 'true'],
      ['QDRANT__SERVICE__ENABLE_TLS', 'true'],
      ['QDRANT__CLUSTER__P2P__ENABLE_TLS', 'true'],
    ]),
    args: ['--uri', uri(ordinal), '--bootstrap', uri(0)],
    volumeAt: () => ({
      is: 'files',
      files: new Map(Object.entries(data).map(([name, text]) => [name, { bytes: Buffer.from(text, 'base64') }])),
    }),
    directoryAt: () => undefined,
    say: (line) => node.said.push(line),
    crash: () => {},
  };
  const peer = await node.standIn.run(place);
  running.push(peer);
  const { host, port } = peer.moved.get(6333) ?? { host: place.address, port: 6333 };
  node.addresses.set(`${hostOf(cluster, ordinal)}:6333`, `${host}:${port}`);
}

/** As the operator asks: by the name of the pod, trusting nobody but the authorities of the Secret. */
function clientOf({ addresses }: Container, ordinal: number, secret: Secret): PeerClient {
  const send = sendOverHttp((address) => addresses.get(address) ?? address);
  const door = { url: urlOf(cluster, ordinal), keys: [], authority: decoded(secret, 'cacert.pem') };
  return new PeerClient(
    door,
    { send, clock, readTimeoutMs: 5_000, writeTimeoutMs: 5_000 },
    new AbortController().signal,
  );
}

async function issued(): Promise<Secret> {
  const none = { authority: undefined, certificate: undefined };
  const { certificate } = await renewed(cluster, none, 'start-over', clock.now());
  if (!certificate) throw new Error('nothing was issued');
  return certificate;
}

const membersSeen = async (node: Container, secret: Secret, ordinals: readonly number[]) =>
  Promise.all(
    ordinals.map(async (ordinal) => {
      const answer = await clientOf(node, ordinal, secret).cluster();
      return answer.is === 'ok' ? answer.value.members.size : answer.because;
    }),
  );

test('with the certificates that are issued, peers form a cluster, and the operator reaches each by its name', async () => {
  const [node, secret] = [aNode(), await issued()];
  for (const ordinal of [0, 1, 2]) {
    await run(node, ordinal, secret);
    await expect.poll(() => membersSeen(node, secret, [ordinal]), { timeout: 30_000 }).toEqual([ordinal + 1]);
  }
  await expect.poll(() => membersSeen(node, secret, [0, 1, 2]), { timeout: 30_000 }).toEqual([3, 3, 3]);
}, 120_000);

test('who is not of the authority that peers know is let in by nobody, and nobody believes it', async () => {
  const [node, secret] = [aNode(), await issued()];
  await run(node, 0, secret);
  await expect.poll(() => membersSeen(node, secret, [0]), { timeout: 30_000 }).toEqual([1]);
  await run(node, 1, await issued());
  await expect.poll(() => node.said.join(), { timeout: 30_000 }).toContain('invalid peer certificate');
  expect(await membersSeen(node, await issued(), [0])).toEqual([expect.stringContaining('certificate')]);
}, 120_000);

test('a certificate for servers alone does not open the door of a peer', async () => {
  const now = clock.now();
  const authority = await createAuthority({ name: 'mine', validMs: 86_400_000, now });
  const pair = await issue(authority, {
    name: 'x',
    use: 'server',
    dnsNames: certificateHosts(cluster),
    validMs: 3_600_000,
    now,
  });
  const files = { 'cert.pem': pair.certificate, 'key.pem': pair.key, 'cacert.pem': authority.certificate };
  const data = Object.fromEntries(Object.entries(files).map(([name, text]) => [name, encode(text)]));
  const secret: Secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'mine' }, data };
  const node = aNode();
  await run(node, 0, secret);
  await expect.poll(() => membersSeen(node, secret, [0]), { timeout: 30_000 }).toEqual([1]);
  await run(node, 1, secret);
  await expect.poll(() => node.said.join(), { timeout: 30_000 }).toContain('invalid peer certificate');
}, 120_000);
