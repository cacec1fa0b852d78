import {
  admissionApp,
  type Cached,
  type CertificateSource,
  type Client,
  type Clock,
  type Logger,
  type Metrics,
  managedCertificates,
  serve,
  ValidatingWebhookConfiguration,
  watchFiles,
} from '@polder/kube';
import type { BindAddress } from '../bind-address.ts';
import type { BuiltInProduct } from '../products.ts';

/** Where the API server finds our webhooks: behind a Service of our namespace, or at `https://host:port`. */
export type WebhookTarget =
  | { readonly service: string; readonly port: number }
  | { readonly url: string; readonly host: string };

/** Who looks after the certificate. */
export type WebhookCertificates =
  /** Somebody else, in a folder, together with the configuration in the cluster: the chart, cert-manager. */
  | { readonly kept: 'in-folder'; readonly directory: string }
  /** We do, and after the configuration. */
  | { readonly kept: 'by-us'; readonly target: WebhookTarget };

const SERVICE = /^(?<service>[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)(?::(?<port>\d{1,5}))?$/;

/** `NAME`, `NAME:PORT` of a Service, or `https://host:port`. */
export function webhookTargetOf(text: string): WebhookTarget {
  const { service, port = '443' } = SERVICE.exec(text)?.groups ?? {};
  if (service !== undefined) return { service, port: Number(port) };
  const url = URL.parse(text);
  if (url?.protocol === 'https:' && url.pathname === '/') {
    return { url: url.origin, host: url.hostname.replaceAll(/[[\]]/g, '') };
  }
  throw new Error(`--webhook is ${text}; it must be the NAME or NAME:PORT of a Service, or https://HOST:PORT`);
}

export interface WebhookOptions {
  readonly products: readonly BuiltInProduct[];
  readonly certificates: WebhookCertificates;
  readonly bindAddress: BindAddress;
  /** Where we are. */
  readonly namespace: string;
  /** Whose resources we look after; those of all namespaces without it. */
  readonly namespaces?: readonly string[] | undefined;
  readonly timeoutMs: number;
  readonly cached: Cached;
}

export interface WebhookTools {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly signal: AbortSignal;
}

/** Serves the webhooks of all products. Resolves once they can be called. */
export async function serveWebhooks(options: WebhookOptions, tools: WebhookTools): Promise<{ close(): Promise<void> }> {
  const { products, bindAddress, cached } = options;
  const { clock, log, metrics } = tools;
  const all = products.flatMap((product) => product.webhooks?.(cached) ?? []);
  const app = admissionApp({
    webhooks: Object.fromEntries(all.map(({ path, webhook }) => [path, webhook])),
    clock,
    log,
    on: metrics.admission(all.map(({ path }) => path)),
  });
  const certificates = await certificatesFor(options, tools);
  const server = await serve(app, { ...bindAddress, certificates, clock });
  log.info({ port: server.port }, `serving webhooks on ${bindAddress.host}:${server.port}`);
  return {
    async close() {
      await server.close();
      await certificates.stop();
    },
  };
}

async function certificatesFor(options: WebhookOptions, tools: WebhookTools): Promise<CertificateSource> {
  const { certificates, namespace, products } = options;
  const { client, clock, log, metrics, signal } = tools;
  if (certificates.kept === 'in-folder') {
    return watchFiles(certificates.directory, { clock, log, on: metrics.certificateFiles() });
  }
  const { target } = certificates;
  const configurations = products.flatMap((product) => configurationOf(product, target, options));
  for (const configuration of configurations) {
    const apply = { fieldManager: 'polder', force: true, signal };
    await client.apply(ValidatingWebhookConfiguration, configuration, apply);
  }
  const trustedBy = configurations.map(
    ({ metadata: { name } }) => ({ kind: 'ValidatingWebhookConfiguration', name }) as const,
  );
  const [services, hosts, name] =
    'service' in target
      ? [[{ namespace, name: target.service }], [], `${target.service}-certificate`]
      : [[], [target.host], 'polder-webhook-certificate'];
  return managedCertificates({ client, clock, log, secret: { namespace, name }, services, hosts, trustedBy }, signal);
}

/**
 * What the API server is told of a product's webhooks, none if it has none. It asks us if it can (`Ignore`): what slips
 * through is refused by the controllers, and an operator that is gone must not keep anybody from changing things.
 */
export function configurationOf(
  product: Pick<BuiltInProduct, 'lease' | 'webhooks'>,
  target: WebhookTarget,
  { namespace, namespaces, timeoutMs, cached }: Omit<WebhookOptions, 'products' | 'certificates' | 'bindAddress'>,
): readonly ValidatingWebhookConfiguration[] {
  const webhooks = product.webhooks?.(cached) ?? [];
  if (webhooks.length === 0) return [];
  const clientConfig = (path: string) =>
    'service' in target
      ? { service: { namespace, name: target.service, port: target.port, path } }
      : { url: `${target.url}${path}` };
  const ours = { key: 'kubernetes.io/metadata.name', operator: 'In', values: namespaces ?? [] };
  return [
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: product.lease },
      webhooks: webhooks.map(({ name, path, kind }) => ({
        name,
        admissionReviewVersions: ['v1'],
        clientConfig: clientConfig(path),
        rules: [
          {
            apiGroups: [kind.group],
            apiVersions: [kind.version],
            resources: [kind.plural],
            operations: ['CREATE', 'UPDATE'],
            scope: kind.namespaced ? 'Namespaced' : 'Cluster',
          },
        ],
        ...(namespaces && { namespaceSelector: { matchExpressions: [ours] } }),
        failurePolicy: 'Ignore',
        matchPolicy: 'Equivalent',
        sideEffects: 'None',
        timeoutSeconds: Math.min(Math.max(Math.round(timeoutMs / 1_000), 1), 30),
      })),
    },
  ];
}
