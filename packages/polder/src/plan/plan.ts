import {
  Client,
  type Clock,
  type ClusterConfig,
  loadConfig,
  silentLogger,
  socketTransport,
  systemClock,
  type Transport,
} from '@polder/kube';
import { type Manifest, readManifests } from '../manifests/index.ts';
import { defaultConfig, managed, type OperatorConfig, readConfig, resolverOf } from '../operator/index.ts';
import type { BuiltInProduct } from '../products.ts';
import { version } from '../version.ts';
import { isSomething } from './forecast.ts';
import { operatorEnv } from './operator-env.ts';
import { previews } from './previews.ts';
import { printed } from './print.ts';

export interface PlanFlags {
  readonly filename: readonly string[];
  readonly kubeconfig?: string;
  readonly config?: string;
}

/** Prints what applying these files would do. True if that is anything. */
export async function plan(
  { filename, ...flags }: PlanFlags,
  products: readonly BuiltInProduct[],
  process: NodeJS.Process,
): Promise<boolean> {
  const manifests = (await Promise.all(filename.map(readManifests))).flat();
  const config = flags.config === undefined ? defaultConfig(products) : await readConfig(flags.config, products);
  const cluster = await loadConfig({ path: flags.kubeconfig });
  const transport = socketTransport(cluster);
  try {
    const { text, isAnything } = await planFor(manifests, products, {
      transport,
      namespace: cluster.namespace,
      config,
      env: process.env,
      clock: systemClock,
      random: Math.random,
      signal: new AbortController().signal,
    });
    process.stdout.write(text);
    return isAnything;
  } finally {
    await transport.close();
  }
}

export interface PlanTools {
  readonly transport: Transport;
  readonly namespace: ClusterConfig['namespace'];
  readonly config: OperatorConfig;
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
  readonly random: () => number;
  readonly signal: AbortSignal;
}

export async function planFor(
  manifests: readonly Manifest[],
  products: readonly BuiltInProduct[],
  { transport, namespace, config, clock, random, signal, ...tools }: PlanTools,
): Promise<{ readonly text: string; readonly isAnything: boolean }> {
  const log = silentLogger;
  const client = new Client({ transport: withoutWrites(transport), userAgent: `polder/${version} (plan)`, clock });
  const resolve = resolverOf(config.resolve);
  // Only of products whose kinds are there: the others are not asked for anything.
  const concerned = products.filter(({ kinds }) =>
    kinds.some(({ kind }) => manifests.some(({ object }) => object.kind === kind)),
  );
  const made = [];
  const alsoIn: string[] = [];
  for (const product of concerned) {
    const env = { ...(await operatorEnv(product.lease, client, signal)), ...tools.env };
    if (env['OPERATOR_NAMESPACE']) alsoIn.push(env['OPERATOR_NAMESPACE']);
    made.push(managed(product, config, { client, clock, log, env, resolve, namespace }));
  }
  const forecasts = await previews(manifests, made, { client, clock, random, log, signal, namespace, alsoIn });
  return { text: printed(forecasts), isAnything: forecasts.some(isSomething) };
}

/** Whatever a controller does while it looks: what is no question is not sent, unless the server is told only to try. */
function withoutWrites(transport: Transport): Transport {
  return {
    request(request) {
      const isTrial = request.path.includes('dryRun=All');
      if (request.method !== 'GET' && !isTrial) {
        throw new Error(`${request.method} ${request.path} not sent: a plan writes nothing`);
      }
      return transport.request(request);
    },
    close: () => transport.close(),
  };
}
