import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Cluster, configurationOf, Disk, type PeerSettings } from '@polder/doubles/qdrant';
import {
  type Client,
  ConfigMap,
  type Container,
  type EnvVar,
  PersistentVolumeClaim,
  Pod,
  Secret,
  sleep,
  systemClock,
} from '@polder/kube';

/** Peers take their usual time, and cases do not: what is a second there is a tenth of one here. */
const HURRY = 10;
const LOOK_EVERY_MS = 50;

/** Of a pod that is there: its peer, and what ends it. */
interface Life {
  readonly uid: string;
  readonly uri: string;
  readonly killed: AbortController;
}

/**
 * What nodes are elsewhere, for clusters whose pods are simulated: whatever pod of Qdrant runs there, by what the API says, is
 * a peer of the stand-in here, and its claim is a disk. One door leads to all of them: the host that a request is for
 * says to whom.
 */
export class Hosts {
  readonly qdrant: Cluster;
  /** The names of the pods that have been started, in this order. */
  readonly started: string[] = [];
  readonly #client: Client;
  readonly #door: Server;
  readonly #over = new AbortController();
  /** By the uids of claims; of pods, where there is no claim. */
  readonly #disks = new Map<string, Disk>();
  readonly #lives = new Map<string, Life>();
  readonly #looking: Promise<void>;

  private constructor(client: Client, namespace: string, door: Server) {
    const after = (ms: number, callback: () => void) => systemClock.after(ms / HURRY, callback);
    this.qdrant = new Cluster({ clock: { now: () => systemClock.now(), after }, random: Math.random });
    this.#client = client;
    this.#door = door.on('request', (request, response) => void this.#answer(request, response));
    this.#looking = this.#look(namespace);
  }

  /** For the pods of one namespace. */
  static async start(client: Client, namespace: string): Promise<Hosts> {
    const door = createServer();
    await new Promise<void>((resolve, reject) => door.once('error', reject).listen(0, '127.0.0.1', resolve));
    return new Hosts(client, namespace, door);
  }

  /** Where the door is: `127.0.0.1:41234`. */
  get address(): string {
    const bound = this.#door.address();
    return `127.0.0.1:${typeof bound === 'object' && bound ? bound.port : 0}`;
  }

  /** Asks a peer, or whichever one is behind a Service, and says its answer; fails if it is no good one. */
  async ask(host: string, method: string, path: string, body: object | undefined, key: string): Promise<string> {
    const bytes = Buffer.from(body === undefined ? '' : JSON.stringify(body));
    const request = { method, path, headers: { 'api-key': key }, body: bytes };
    const answer = await this.qdrant.request(this.#peerAt(host), request);
    const text = Buffer.from(answer.body).toString('utf8');
    if (answer.status >= 300) throw new Error(`${method} ${path} of ${host}: ${answer.status} ${text}`);
    return text;
  }

  async stop(): Promise<void> {
    this.#over.abort();
    await this.#looking;
    for (const [name, life] of this.#lives) this.#end(name, life);
    this.#door.closeAllConnections();
    await new Promise((resolve) => this.#door.close(resolve));
    await this.#client.close();
  }

  async #look(namespace: string): Promise<void> {
    const { signal } = this.#over;
    while (!signal.aborted) {
      try {
        const { items } = await this.#client.list(Pod, { namespace, labelSelector: 'component=qdrant', signal });
        this.#follow(items);
        await sleep(systemClock, LOOK_EVERY_MS, signal);
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    }
  }

  #follow(pods: readonly Pod[]): void {
    const there = new Map(pods.filter(isRunning).map((pod) => [pod.metadata.name, pod] as const));
    for (const [name, life] of this.#lives) {
      if (there.get(name)?.metadata.uid !== life.uid) this.#end(name, life);
    }
    for (const [name, pod] of there) {
      if (this.#lives.has(name)) continue;
      const { namespace = '', uid = '', labels } = pod.metadata;
      const uri = `http://${name}.${labels?.['clustername']}-headless.${namespace}:6335`;
      const life = { uid, uri, killed: new AbortController() };
      this.#lives.set(name, life);
      this.started.push(name);
      // What it needs may be gone with its namespace.
      void this.#live(pod, life).catch(() => {});
    }
  }

  #end(name: string, { uri, killed }: Life): void {
    this.#lives.delete(name);
    killed.abort();
    this.qdrant.peerAt(uri)?.stop();
  }

  /** As a kubelet does: what crashes is started again, with what its variables say by then. */
  async #live(pod: Pod, { uri, killed: { signal } }: Life): Promise<void> {
    const disk = await this.#diskOf(pod);
    while (!signal.aborted) {
      const settings = await this.#settingsOf(pod);
      const start = await this.qdrant.start({ ...settings, ...this.#bootstrapOf(settings) }, disk, signal);
      if (start.is === 'serving') return;
      this.qdrant.peerAt(uri)?.stop();
      await sleep(systemClock, 200, signal);
    }
  }

  async #settingsOf(pod: Pod): Promise<PeerSettings> {
    const container: Container = pod.spec?.containers[0] ?? { name: '' };
    const env = new Map<string, string>();
    for (const one of container.env ?? []) env.set(one.name, await this.#valueOf(one, pod));
    const args = container.args?.map((arg) => arg.replaceAll(/\$\((\w+)\)/g, (_, name) => env.get(String(name)) ?? ''));
    return configurationOf({
      container: { ...(container.image && { image: container.image }) },
      address: '',
      env,
      args: args ?? [],
      volumeAt: () => undefined,
      directoryAt: () => undefined,
      say: () => {},
      crash: () => {},
    }).peer;
  }

  async #valueOf({ value = '', valueFrom }: EnvVar, { metadata: { namespace, name: pod } }: Pod): Promise<string> {
    const at = (name = '') => ({ name, ...(namespace !== undefined && { namespace }) });
    if (valueFrom?.fieldRef) return pod;
    if (valueFrom?.configMapKeyRef) {
      const { name, key } = valueFrom.configMapKeyRef;
      return (await this.#client.get(ConfigMap, at(name))).data?.[key] ?? '';
    }
    if (valueFrom?.secretKeyRef) {
      const { name, key } = valueFrom.secretKeyRef;
      return Buffer.from((await this.#client.get(Secret, at(name))).data?.[key] ?? '', 'base64').toString();
    }
    return value;
  }

  /** A headless Service is any of its pods. */
  #bootstrapOf({ uri, bootstrap }: PeerSettings): { readonly bootstrap?: string } {
    if (bootstrap === undefined || bootstrap === uri) return {};
    const below = `.${new URL(bootstrap).hostname}`;
    const found = this.qdrant.peers.find(
      (peer) => peer.isServing && peer.host.endsWith(below) && peer.uri !== `${uri}/`,
    );
    return found ? { bootstrap: found.uri } : {};
  }

  async #diskOf({ metadata: { namespace, uid = '' }, spec }: Pod): Promise<Disk> {
    const storage = spec?.volumes?.find(({ name }) => name === 'qdrant-storage')?.persistentVolumeClaim;
    const claim =
      storage &&
      (await this.#client.get(PersistentVolumeClaim, {
        name: storage.claimName,
        ...(namespace !== undefined && { namespace }),
      }));
    const key = claim?.metadata.uid ?? uid;
    const disk = this.#disks.get(key) ?? new Disk();
    this.#disks.set(key, disk);
    return disk;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const body = Buffer.concat(await Array.fromAsync(request, (part: Uint8Array) => part));
      const { method = 'GET', url: path = '/' } = request;
      const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
      const { hostname } = new URL(`http://${request.headers.host}`);
      const answer = await this.qdrant.request(this.#peerAt(hostname), { method, path, headers, body });
      response.statusCode = answer.status;
      response.setHeaders(new Map(Object.entries(answer.headers))).end(answer.body);
    } catch {
      // Nobody is there: a connection that is refused looks much the same.
      request.socket.destroy();
    }
  }

  /** The Service of a cluster, `vectors.shop`, is any of its peers. */
  #peerAt(host: string): string {
    const [service, namespace, ...more] = host.split('.');
    if (more.length > 0) return host;
    const below = `.${service}-headless.${namespace}`;
    return this.qdrant.peers.find((peer) => peer.isServing && peer.host.endsWith(below))?.host ?? host;
  }
}

const isRunning = ({ metadata, status }: Pod) =>
  metadata.deletionTimestamp === undefined &&
  status?.containerStatuses?.some(({ state }) => state?.running !== undefined) === true;
