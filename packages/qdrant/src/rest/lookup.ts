import type { Kind, KubernetesObject } from '@polder/kube';
import { type Call, isName } from './call.ts';
import { isMissingObject } from './refusal.ts';

type Somewhere = Call & { readonly namespace?: string };

/** From the API server itself: who made something and asks for it next, possibly elsewhere, finds it. */
export async function find<T extends KubernetesObject>(
  { client, namespace, signal }: Somewhere,
  kind: Kind<T>,
  name: string,
): Promise<T | undefined> {
  if (!isName(name)) return undefined;
  try {
    return await client.get(kind, { namespace, name }, { signal });
  } catch (error) {
    if (isMissingObject(error)) return undefined;
    throw error;
  }
}

export async function allOf<T extends KubernetesObject>(
  { client, namespace, signal }: Somewhere,
  kind: Kind<T>,
): Promise<readonly T[]> {
  const objects: T[] = [];
  for await (const { items } of client.pages(kind, { namespace, signal })) objects.push(...items);
  return objects;
}
