import type { Client, Kind, KubernetesObject } from '@polder/kube';

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/**
 * What `kubectl apply` would make of an object, by the server's own word: on the server or not, as it was applied last. What
 * stood in the manifest then and stands in it no more would go. On the server, the server knows that; otherwise kubectl finds
 * it in an annotation, and so do we.
 */
export async function wouldBeApplied(
  kind: Kind,
  object: KubernetesObject,
  live: KubernetesObject | undefined,
  { client, signal }: { readonly client: Client; readonly signal: AbortSignal },
): Promise<KubernetesObject> {
  const options = { dryRun: true, fieldValidation: 'Strict', signal } as const;
  const applied = live?.metadata.annotations?.[LAST_APPLIED];
  if (applied === undefined || isAppliedOnServer(live)) {
    return client.apply(kind, object, { ...options, fieldManager: 'kubectl', force: true });
  }
  const body = mergePatch(JSON.parse(applied), object);
  return client.patch(kind, object.metadata, { type: 'merge', body }, options);
}

function isAppliedOnServer(live: KubernetesObject | undefined): boolean {
  const lastBy = (name: string) => live?.metadata.managedFields?.find(({ manager }) => manager === name)?.time ?? '';
  return lastBy('kubectl') >= lastBy('kubectl-client-side-apply');
}

/** Makes the fields of `wanted` so, and takes away those that only `before` has. */
function mergePatch(before: unknown, wanted: object): Readonly<Record<string, unknown>> {
  const old = isFields(before) ? before : {};
  const gone = Object.keys(old).filter((name) => !(name in wanted));
  return {
    ...Object.fromEntries(gone.map((name) => [name, null])),
    ...Object.fromEntries(
      Object.entries(wanted).map(([name, value]: [string, unknown]) => [
        name,
        isFields(value) ? mergePatch(old[name], value) : value,
      ]),
    ),
  };
}

const isFields = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
