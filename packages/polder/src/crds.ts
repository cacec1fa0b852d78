import {
  apiVersionOf,
  type Client,
  type Clock,
  type CustomKind,
  CustomResourceDefinition,
  crdOf,
  sleep,
} from '@polder/kube';
import { stringify } from 'yaml';
import { ServedKinds } from './manifests/index.ts';

/** The definitions of all kinds, each a YAML document. Version 1.1 rules, because Kubernetes reads `on` as a boolean. */
export function crdsAsYaml(kinds: readonly CustomKind[]): string {
  return kinds.map((kind) => `---\n${stringify(crdOf(kind), { version: '1.1' })}`).join('');
}

/** Makes the cluster know these kinds, and waits until it serves them. */
export async function installCrds(
  kinds: readonly CustomKind[],
  { client, clock, signal }: { readonly client: Client; readonly clock: Clock; readonly signal: AbortSignal },
): Promise<void> {
  for (const kind of kinds) {
    await client.apply(CustomResourceDefinition, crdOf(kind), { fieldManager: 'polder', force: true, signal });
  }
  const served = new ServedKinds(client);
  for (const kind of kinds) {
    const example = { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata: { name: '' } };
    while (!(await served.find(example))) await sleep(clock, 50, signal);
  }
}
