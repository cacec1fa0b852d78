import type { Client, JsonPatchOperation } from '../client/index.ts';
import type { Kind, KubernetesObject } from '../kinds/index.ts';

/** What has to trust us: a webhook configuration, or a CRD whose versions we convert. */
export interface BundleTarget {
  readonly kind: 'ValidatingWebhookConfiguration' | 'MutatingWebhookConfiguration' | 'CustomResourceDefinition';
  readonly name: string;
}

interface ClientConfig {
  readonly caBundle?: string;
}

interface Trusting extends KubernetesObject {
  readonly webhooks?: readonly { readonly clientConfig?: ClientConfig }[];
  readonly spec?: {
    readonly conversion?: { readonly strategy?: string; readonly webhook?: { readonly clientConfig?: ClientConfig } };
  };
}

const clusterScoped = (group: string, kind: string, plural: string): Kind<Trusting> => ({
  group,
  version: 'v1',
  kind,
  plural,
  namespaced: false,
});

const KINDS: Readonly<Record<BundleTarget['kind'], Kind<Trusting>>> = {
  ValidatingWebhookConfiguration: clusterScoped(
    'admissionregistration.k8s.io',
    'ValidatingWebhookConfiguration',
    'validatingwebhookconfigurations',
  ),
  MutatingWebhookConfiguration: clusterScoped(
    'admissionregistration.k8s.io',
    'MutatingWebhookConfiguration',
    'mutatingwebhookconfigurations',
  ),
  CustomResourceDefinition: clusterScoped(
    'apiextensions.k8s.io',
    'CustomResourceDefinition',
    'customresourcedefinitions',
  ),
};

/** Makes the target trust the bundle (PEM). Whether it had to be changed for that. */
export async function putBundle(
  client: Client,
  target: BundleTarget,
  bundle: string,
  signal: AbortSignal,
): Promise<boolean> {
  const kind = KINDS[target.kind];
  const ref = { name: target.name };
  const found = await client.get(kind, ref, { signal });
  const caBundle = Buffer.from(bundle).toString('base64');
  const outdated = clientConfigsOf(found).filter(({ config }) => config.caBundle !== caBundle);
  if (outdated.length === 0) return false;
  const operations: JsonPatchOperation[] = [
    // Webhooks are found by their place in the list; it must still be the list we read.
    { op: 'test', path: '/metadata/resourceVersion', value: found.metadata.resourceVersion },
    ...outdated.map(({ path }) => ({ op: 'add' as const, path: `${path}/caBundle`, value: caBundle })),
  ];
  await client.patch(kind, ref, { type: 'json', operations }, { signal });
  return true;
}

function clientConfigsOf({
  webhooks = [],
  spec,
}: Trusting): { readonly path: string; readonly config: ClientConfig }[] {
  const found = webhooks.map(({ clientConfig }, index) => ({
    path: `/webhooks/${index}/clientConfig`,
    config: clientConfig,
  }));
  if (spec?.conversion?.strategy === 'Webhook') {
    found.push({ path: '/spec/conversion/webhook/clientConfig', config: spec.conversion.webhook?.clientConfig });
  }
  return found.flatMap(({ path, config }) => (config ? [{ path, config }] : []));
}
