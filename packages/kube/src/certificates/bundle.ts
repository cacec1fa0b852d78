import type { Client, JsonPatchOperation } from '../client/index.ts';
import {
  CustomResourceDefinition,
  type Kind,
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
} from '../kinds/index.ts';

/** What has to trust us: a webhook configuration, or a CRD whose versions we convert. */
export interface BundleTarget {
  readonly kind: 'ValidatingWebhookConfiguration' | 'MutatingWebhookConfiguration' | 'CustomResourceDefinition';
  readonly name: string;
}

type Trusting = ValidatingWebhookConfiguration | MutatingWebhookConfiguration | CustomResourceDefinition;

const KINDS: Readonly<Record<BundleTarget['kind'], Kind<Trusting>>> = {
  ValidatingWebhookConfiguration,
  MutatingWebhookConfiguration,
  CustomResourceDefinition,
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

function clientConfigsOf(
  trusting: Trusting,
): { readonly path: string; readonly config: { readonly caBundle?: string } }[] {
  if (trusting.kind === 'CustomResourceDefinition') {
    const { conversion } = trusting.spec;
    const config = conversion?.strategy === 'Webhook' ? conversion.webhook?.clientConfig : undefined;
    return config ? [{ path: '/spec/conversion/webhook/clientConfig', config }] : [];
  }
  return (trusting.webhooks ?? []).map(({ clientConfig: config }, at) => ({
    path: `/webhooks/${at}/clientConfig`,
    config,
  }));
}
