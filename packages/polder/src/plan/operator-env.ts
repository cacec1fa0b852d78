import { type Client, isNotFound, Lease, Pod } from '@polder/kube';

/**
 * The variables of the operator that leads a product, as far as its pod says them: its settings are in there, and a plan with
 * other settings would be a plan of something else. None if nobody leads, or not from a pod.
 */
export async function operatorEnv(
  lease: string,
  client: Client,
  signal: AbortSignal,
): Promise<Readonly<Record<string, string>>> {
  const { items } = await client.list(Lease, { fieldSelector: `metadata.name=${lease}`, signal });
  for (const { metadata, spec } of items) {
    // `POD_something`, as every operator on this runtime and on controller-runtime signs.
    const [, name] = /^(.+)_[^_]*$/.exec(spec?.holderIdentity ?? '') ?? [];
    if (name === undefined) continue;
    const pod = await client.get(Pod, { namespace: metadata.namespace, name }, { signal }).catch(undefinedIfNotFound);
    const variables = pod?.spec?.containers[0]?.env ?? [];
    if (pod)
      return Object.fromEntries(variables.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])));
  }
  return {};
}

function undefinedIfNotFound(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}
