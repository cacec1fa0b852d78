import {
  type Cached,
  Client,
  type Clock,
  type ElectionEvents,
  type Logger,
  Manager,
  Metrics,
  ownerIndex,
  type Product,
  type ProductEvents,
  probes,
  type Resolve,
  type Transport,
  together,
  Waiting,
} from '@polder/kube';
import { Hono } from 'hono';
import type { BindAddress } from '../bind-address.ts';
import type { BuiltInProduct } from '../products.ts';
import { version } from '../version.ts';
import type { OperatorConfig } from './config.ts';
import { familiesIn, familyOf, pageOf } from './exposition.ts';
import { MissingKinds } from './missing-kinds.ts';
import { podMetrics } from './pod-metrics.ts';
import { managed, serversOf } from './products.ts';
import { serving } from './serving.ts';
import { serveWebhooks, type WebhookCertificates } from './webhooks.ts';

export interface OperatorOptions {
  readonly products: readonly BuiltInProduct[];
  readonly config: OperatorConfig;
  /** Where the leases are, and all else that belongs to the operator itself. */
  readonly namespace: string;
  /** Whose resources are looked after; those of all namespaces without it. */
  readonly namespaces?: readonly string[] | undefined;
  readonly metricsBindAddress: BindAddress;
  readonly healthProbeBindAddress: BindAddress;
  readonly webhook?: { readonly bindAddress: BindAddress; readonly certificates: WebhookCertificates } | undefined;
}

export interface OperatorTools {
  readonly transport: Transport;
  /** The API server's host, for metrics. */
  readonly server: string;
  readonly clock: Clock;
  readonly random?: () => number;
  readonly env: NodeJS.ProcessEnv;
  readonly log: Logger;
  readonly resolve: Resolve;
  readonly signal: AbortSignal;
}

/** Runs the operators of products until the signal aborts: what is under way is finished, leases are given back. */
export async function runOperator(options: OperatorOptions, tools: OperatorTools): Promise<void> {
  const { products, config, namespace, namespaces, webhook } = options;
  const { transport, clock, random, log, signal } = tools;
  const userAgent = `polder/${version}`;
  const client = new Client({ transport, userAgent, clock, log });
  const metrics = new Metrics({ clock });
  metrics.process();
  const leading = new Leading();
  const missing = new MissingKinds(
    products.flatMap(({ kinds }) => kinds),
    log,
  );
  const { meters } = metrics;
  const surroundings = { ...tools, client, namespace, namespaces, meters };
  const all = products.map((product) => managed(product, config, surroundings));
  // Looking must not begin a watch that nobody needs.
  const cached: Cached = {
    list: (kind, where) => (manager.cache.has(kind) ? manager.cache.of(kind, ownerIndex()).list(where) : []),
  };
  const manager = new Manager({
    transport,
    userAgent,
    clock,
    log,
    namespaces,
    ...(random && { random }),
    products: all,
    graceMs: config.shared.shutdownGrace,
    on: together([metrics.manager(tools.server), leading, missing]),
    servers: [
      () =>
        serving(
          'probes',
          probesOf(() => manager, all, missing),
          options.healthProbeBindAddress,
          tools,
        ),
      () =>
        serving(
          'metrics',
          metricsOf(cached, metrics, leading, client, options, tools),
          options.metricsBindAddress,
          tools,
        ),
      ...products
        .flatMap((product) => serversOf(product, config, surroundings))
        .map(
          ({ name, app, bindAddress, certificateDirectory }) =>
            () =>
              serving(name, app, bindAddress, { ...tools, certificateDirectory, on: metrics.certificateFiles() }),
        ),
      ...(webhook ? [() => webhooks(webhook)] : []),
    ],
  });
  const webhooks = (how: NonNullable<OperatorOptions['webhook']>) =>
    serveWebhooks(
      { ...how, products, namespace, namespaces, timeoutMs: config.shared.webhookTimeout, cached },
      { client, clock, log, metrics, signal },
    );
  try {
    await manager.run(signal);
  } catch (error) {
    // Who stops while it comes up has not failed.
    if (!signal.aborted) throw error;
  } finally {
    metrics.stop();
  }
}

/** Which products this process leads at the moment. */
class Leading implements ProductEvents {
  readonly #products = new Set<string>();

  leading(product: string): ElectionEvents {
    return {
      gained: () => {
        this.#products.add(product);
      },
      lost: () => {
        this.#products.delete(product);
      },
    };
  }

  has({ name }: BuiltInProduct): boolean {
    return this.#products.has(name);
  }
}

/**
 * A check for each product. One whose kinds are not installed may wait for them for ever, and must not keep the others from
 * being reached: an operator is ready if those are that it runs, and says what the others wait for.
 */
function probesOf(manager: () => Manager, products: readonly Product[], missing: MissingKinds): Hono {
  const checks = products.map((product) => {
    const check = () => {
      const awaited = manager().awaited(product);
      if (awaited.length === 0) return;
      const because = missing.explain(awaited);
      throw missing.isAmong(awaited) ? new Waiting(because) : new Error(because);
    };
    return [product.name, check] as const;
  });
  return probes({ live: { ping: () => {} }, ready: Object.fromEntries(checks) });
}

const CONTENT_TYPE = { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' };

/** Our own series and, while we lead, those of resources and pods: from one operator alone, so that sums over all of them are right. */
function metricsOf(
  cached: Cached,
  metrics: Metrics,
  leading: Leading,
  client: Client,
  { products, config, namespaces }: OperatorOptions,
  { clock, log, resolve }: OperatorTools,
): Hono {
  const { scrapeTimeout: podTimeoutMs, metricsTimeout: allTimeoutMs } = config.shared;
  const how = { client, clock, log, resolve, namespaces, podTimeoutMs, allTimeoutMs };
  const app = new Hono();
  app.get('/metrics', async (context) => {
    const led = products.filter((product) => leading.has(product));
    const metered = led.flatMap(({ meters }) => meters ?? []);
    const ofPods = await Promise.all(metered.map((pods) => podMetrics(pods, how)));
    const ofResources = led.flatMap((product) => product.gauges?.(cached) ?? []).map(familyOf);
    const families = [...familiesIn(await metrics.text()), ...ofResources, ...ofPods.flat()];
    return context.text(pageOf(families), 200, CONTENT_TYPE);
  });
  return app;
}
