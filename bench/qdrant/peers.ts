/**
 * Stands for all peers of all clusters, behind one port: which of them is asked stands in the request. A peer begins with the
 * first question to it by its own name, which the operator puts only if its pod runs; before that, nobody stands behind the
 * Service. Each cluster is a world of its own, so that one costs the same however many there are. No keys are asked for. Prints
 * the port it serves on.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Cluster, Disk } from '@polder/doubles/qdrant';
import { systemClock } from '@polder/kube/clock';

/** `vectors-7-0.vectors-7-headless.default`, or `vectors-7.default` for whichever peer. */
const HOST = /^(?:(?<pod>[^.]+)\.)?(?<service>[^.]+)\.(?<namespace>[^.:]+)/;

const worlds = new Map<string, Cluster>();
const started = new Map<string, Promise<unknown>>();

function worldOf(cluster: string): Cluster {
  const world = worlds.get(cluster) ?? new Cluster({ clock: systemClock, random: Math.random });
  worlds.set(cluster, world);
  return world;
}

/** The host of the peer that serves, started if need be. Others join the first of a cluster. */
async function peerFor(host: string): Promise<{ readonly world: Cluster; readonly host: string }> {
  const { pod, service = '', namespace = '' } = HOST.exec(host)?.groups ?? {};
  const cluster = service.replace(/-headless$/, '');
  const hostOf = (name: string) => `${name}.${cluster}-headless.${namespace}`;
  const [first, asked] = [hostOf(`${cluster}-0`), hostOf(pod ?? `${cluster}-0`)];
  const world = worldOf(`${namespace}/${cluster}`);
  const start = (name: string) => {
    const starting = started.get(name) ?? world.start({ uri: uriOf(name), bootstrap: uriOf(first) }, new Disk());
    started.set(name, starting);
    return starting;
  };
  if (pod === undefined && !started.has(first)) throw new Error(`nobody stands behind ${service}`);
  await start(first);
  await start(asked);
  return { world, host: asked };
}

const uriOf = (host: string) => `http://${host}:6335`;

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = 'GET', url = '/', headers } = request;
  try {
    const body = Buffer.concat(await Array.fromAsync(request, (part: Uint8Array) => part));
    const { world, host } = await peerFor(headers.host ?? '');
    const answered = await world.request(host, { method, path: url, headers: {}, body });
    response.statusCode = answered.status;
    response.setHeaders(new Map(Object.entries(answered.headers))).end(answered.body);
  } catch {
    request.socket.destroy();
  }
}

const server = createServer((request, response) => void answer(request, response));
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  console.log(typeof address === 'object' && address !== null ? address.port : 0);
});
