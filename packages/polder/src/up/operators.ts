import type { EmbeddedCluster } from '@polder/embedded';
import { Client, type Clock, isNotFound, Lease, type Logger, Manager, type Resolve } from '@polder/kube';
import { installCrds } from '../crds.ts';
import { defaultConfig, managed, serversOf, serving } from '../operator/index.ts';
import type { BuiltInProduct } from '../products.ts';
import { version } from '../version.ts';

/** Where kubectl and a second operator look first: that one has to find our leases. */
const NAMESPACE = 'default';
/** How we sign leases. */
const HOST = 'polder-up';

export interface OperatorsTools {
  readonly clock: Clock;
  readonly log: Logger;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

/** The operators of products, in the process of the cluster. */
export interface Operators {
  /** Resolves when they have stopped; rejects when they could not go on. */
  readonly running: Promise<void>;
  stop(): Promise<void>;
}

/** Makes the cluster know the kinds of the products, and starts their operators. */
export async function startOperators(
  { server, network }: Pick<EmbeddedCluster, 'server' | 'network'>,
  products: readonly BuiltInProduct[],
  { clock, log, env, signal }: OperatorsTools,
): Promise<Operators> {
  const transport = server.transport();
  const userAgent = `polder/${version}`;
  const client = new Client({ transport, userAgent, clock, log });
  const tools = { client, clock, signal };
  await installCrds(
    products.flatMap(({ kinds }) => kinds),
    tools,
  );
  for (const { lease } of products) await takeBack(lease, client, signal);
  const config = defaultConfig(products);
  const surroundings = { client, clock, log, env, namespace: NAMESPACE, resolve: resolverIn(network) };
  const stop = new AbortController();
  const manager = new Manager({
    transport,
    userAgent,
    clock,
    log,
    host: HOST,
    products: products.map((product) => managed(product, config, surroundings)),
    servers: products
      .flatMap((product) => serversOf(product, config, surroundings))
      .map(
        ({ name, app, bindAddress, certificateDirectory }) =>
          () =>
            serving(name, app, bindAddress, { clock, log, certificateDirectory }),
      ),
    graceMs: config.shared.shutdownGrace,
  });
  const running = manager.run(stop.signal);
  return {
    running,
    async stop() {
      stop.abort(new Error('the cluster is stopped'));
      await running;
    },
  };
}

/** A lease of one of us who was killed. He can't be alive: two processes never have the same storage. */
async function takeBack(name: string, client: Client, signal: AbortSignal): Promise<void> {
  const ref = { namespace: NAMESPACE, name };
  const lease = await client.get(Lease, ref, { signal }).catch(undefinedIfNotFound);
  if (lease?.spec?.holderIdentity?.startsWith(`${HOST}_`)) await client.delete(Lease, ref, { signal });
}

/** Names and addresses of the cluster are on this machine somewhere; all others are where they are. */
function resolverIn(network: EmbeddedCluster['network']): Resolve {
  return (address) => {
    const [, host = '', port = ''] = /^\[?(.*?)\]?:(\d+)$/.exec(address) ?? [];
    const found = network.resolve(host, Number(port));
    return found ? `${found.host}:${found.port}` : address;
  };
}

function undefinedIfNotFound(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}
