import {
  type Cached,
  Client,
  type Clock,
  type Logger,
  Manager,
  type ManagerEvents,
  Metrics,
  messageOf,
  ownerIndex,
  probes,
  type Resolve,
  type Transport,
} from '@polder/kube';
import { Hono } from 'hono';
import type { BindAddress } from '../bind-address.ts';
import { ServedKinds } from '../manifests/index.ts';
import type { BuiltInProduct } from '../products.ts';
import { version } from '../version.ts';
import type { OperatorConfig } from './config.ts';
import { familiesIn, familyOf, pageOf } from './exposition.ts';
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
  const leading = new Leading(metrics.manager(tools.server));
  const surroundings = { ...tools, client, namespace, namespaces };
  const manager = new Manager({
    transport,
    userAgent,
    clock,
    log,
    namespaces,
    ...(random && { random }),
    products: products.map((product) => managed(product, config, surroundings)),
    graceMs: config.shared.shutdownGrace,
    on: leading.events,
    servers: [
      () =>
        serving(
          'probes',
          probesOf(() => manager),
          options.healthProbeBindAddress,
          tools,
        ),
      () =>
        serving(
          'metrics',
          metricsOf(() => manager, metrics, leading, client, options, tools),
          options.metricsBindAddress,
          tools,
        ),
      ...products
        .flatMap((product) => serversOf(product, config, surroundings))
        .map(
          ({ name, app, bindAddress }) =>
            () =>
              serving(name, app, bindAddress, tools),
        ),
      ...(webhook ? [() => webhooks(webhook)] : []),
    ],
  });
  const webhooks = (how: NonNullable<OperatorOptions['webhook']>) =>
    serveWebhooks(
      { ...how, products, namespace, namespaces, timeoutMs: config.shared.webhookTimeout },
      { client, clock, log, metrics, signal },
    );
  const noted = noteMissingKinds(products, client, log);
  try {
    await manager.run(signal);
  } catch (error) {
    // Who stops while it comes up has not failed.
    if (!signal.aborted) throw error;
  } finally {
    await noted;
    metrics.stop();
  }
}

/** Which products this process leads at the moment. */
class Leading {
  readonly events: ManagerEvents;
  readonly #products = new Set<string>();

  constructor(events: ManagerEvents) {
    this.events = {
      ...events,
      leading: (product) => {
        const told = events.leading?.(product);
        return {
          gained: () => {
            this.#products.add(product);
            told?.gained?.();
          },
          lost: () => {
            this.#products.delete(product);
            told?.lost?.();
          },
        };
      },
    };
  }

  has({ name }: BuiltInProduct): boolean {
    return this.#products.has(name);
  }
}

function probesOf(manager: () => Manager): Hono {
  const caches = () => {
    const { unsynced } = manager().cache;
    if (unsynced.length > 0) throw new Error(`not read yet: ${unsynced.join(', ')}`);
  };
  return probes({ live: { ping: () => {} }, ready: { caches } });
}

const CONTENT_TYPE = { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' };

/** Our own series and, while we lead, those of resources and pods: from one operator alone, so that sums over all of them are right. */
function metricsOf(
  manager: () => Manager,
  metrics: Metrics,
  leading: Leading,
  client: Client,
  { products, config, namespaces }: OperatorOptions,
  { clock, log, resolve }: OperatorTools,
): Hono {
  const { scrapeTimeout: podTimeoutMs, metricsTimeout: allTimeoutMs } = config.shared;
  const how = { client, clock, log, resolve, namespaces, podTimeoutMs, allTimeoutMs };
  const cached: Cached = { list: (kind, namespace) => manager().cache.of(kind, ownerIndex()).list(namespace) };
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

/** A kind that is not installed keeps an operator waiting in silence, and the first question is always why. */
async function noteMissingKinds(products: readonly BuiltInProduct[], client: Client, log: Logger): Promise<void> {
  const served = new ServedKinds(client);
  for (const { kind, group, version: kindVersion } of products.flatMap(({ kinds }) => kinds)) {
    try {
      const apiVersion = `${group}/${kindVersion}`;
      const found = await served.find({ apiVersion, kind, metadata: { name: '' } });
      if (!found)
        log.error({}, `the cluster has no kind ${kind} (${apiVersion}); install it: polder crds | kubectl apply -f -`);
    } catch (error) {
      log.warn({ error: messageOf(error) }, `it is not known whether the cluster has the kind ${kind}`);
      return;
    }
  }
}
