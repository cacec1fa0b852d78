import { loadConfig, socketTransport, stopSignal, systemClock } from '@polder/kube';
import type { BindAddress } from '../bind-address.ts';
import { logOf } from '../log.ts';
import { type KnownProduct, loadProducts } from '../products.ts';
import { defaultConfig, readConfig } from './config.ts';
import { printConfig } from './print-config.ts';
import { chosen } from './products.ts';
import { resolverOf } from './resolve.ts';
import { type OperatorOptions, runOperator } from './run.ts';
import { webhookTargetOf } from './webhooks.ts';

export interface OperatorFlags {
  /** Names; all products if there are none. */
  readonly products: readonly string[];
  readonly kubeconfig?: string;
  readonly namespace: readonly string[];
  readonly secretNamespace: readonly string[];
  readonly inlineSecrets?: true;
  readonly config?: string;
  readonly printConfig?: true;
  readonly metricsBindAddress: BindAddress;
  readonly healthProbeBindAddress: BindAddress;
  /** Where the API server finds the webhooks. */
  readonly webhook?: string;
  readonly webhookBindAddress: BindAddress;
  /** Where products serve HTTP of their own. */
  readonly apiBindAddress?: string;
}

/** Runs the operators of the chosen products until a signal comes. */
export async function operator(
  flags: OperatorFlags,
  known: readonly KnownProduct[],
  process: NodeJS.Process,
): Promise<void> {
  const wanted = flags.products.length === 0 ? known : chosen(flags.products, known);
  const config = flags.config === undefined ? defaultConfig(known) : await readConfig(flags.config, known);
  if (flags.printConfig) {
    process.stdout.write(printConfig(known, config));
    return;
  }
  const products = await loadProducts(wanted);
  const stop = stopSignal(process);
  const env = settingsIn(flags, process.env);
  const log = logOf(env, {});
  try {
    const cluster = await loadConfig({ path: flags.kubeconfig });
    const transport = socketTransport(cluster);
    const { metricsBindAddress, healthProbeBindAddress, namespace: namespaces } = flags;
    const options: OperatorOptions = {
      products,
      config,
      namespace: env['OPERATOR_NAMESPACE']?.trim() || cluster.namespace,
      namespaces: namespaces.length === 0 ? undefined : namespaces,
      metricsBindAddress,
      healthProbeBindAddress,
      webhook: webhookOf(flags, env),
    };
    stop.signal.addEventListener('abort', () => log.info({}, 'stopping'), { once: true });
    log.info({ server: cluster.server, products: products.map(({ name }) => name) }, 'starting');
    try {
      await runOperator(options, {
        transport,
        server: new URL(cluster.server).host,
        clock: systemClock,
        env,
        log,
        resolve: resolverOf(config.resolve),
        signal: stop.signal,
      });
    } finally {
      await transport.close();
    }
    log.info({}, 'stopped');
  } finally {
    stop.dispose();
  }
}

/** By upstream's variable, or by our flag; not by both. */
function webhookOf(
  { webhook, webhookBindAddress: bindAddress }: OperatorFlags,
  { WEBHOOK_CERT_DIR = '' }: NodeJS.ProcessEnv,
): OperatorOptions['webhook'] {
  const directory = WEBHOOK_CERT_DIR.trim();
  if (directory !== '' && webhook !== undefined) {
    throw new Error('--webhook makes its own certificate, and WEBHOOK_CERT_DIR names one; give one of the two');
  }
  if (directory !== '') return { bindAddress, certificates: { kept: 'in-folder', directory } };
  if (webhook === undefined) return undefined;
  return { bindAddress, certificates: { kept: 'by-us', target: webhookTargetOf(webhook) } };
}

/** Products read their settings from the environment: there `polder plan` finds them, too, if they are set in the pod. */
function settingsIn(
  { secretNamespace, inlineSecrets, apiBindAddress }: OperatorFlags,
  env: NodeJS.ProcessEnv,
): NodeJS.ProcessEnv {
  return {
    ...env,
    ...(secretNamespace.length > 0 && { SECRET_NAMESPACES: secretNamespace.join(',') }),
    ...(inlineSecrets && { INLINE_SECRETS: 'true' }),
    ...(apiBindAddress !== undefined && { API_BIND_ADDRESS: apiBindAddress }),
  };
}
