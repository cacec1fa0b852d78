/** The fields of an operator's objects, one by one, for those who change them behind its back. */
import {
  apiVersionOf,
  type Client,
  isInvalid,
  type JsonPatchOperation,
  type Kind,
  type KubernetesObject,
} from '@polder/kube';

/** Finds the kind of an object among those that an operator makes. */
export const kindAmong =
  (kinds: readonly Kind[]) =>
  ({ apiVersion, kind }: KubernetesObject): Kind => {
    const found = kinds.find((one) => one.kind === kind && apiVersionOf(one) === apiVersion);
    if (!found) throw new Error(`${kind} is not watched`);
    return found;
  };

/**
 * Who an object is can't be changed. What tells the items of a list apart can: but then it is another item, which belongs to
 * whoever added it and stays, beside ours, which comes back.
 */
const IDENTITY =
  /^\/(apiVersion|kind|metadata\/(name|namespace))$|\/((containers|env|volumes)\/\d+\/name|ports\/\d+\/(containerPort|protocol)|volumeMounts\/\d+\/mountPath)$/;

interface Leaf {
  readonly pointer: string;
  readonly value: unknown;
}

export function leavesOf(value: unknown, pointer = ''): readonly Leaf[] {
  if (typeof value !== 'object' || value === null) return IDENTITY.test(pointer) ? [] : [{ pointer, value }];
  return Object.entries(value).flatMap(([key, inner]) =>
    leavesOf(inner, `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`),
  );
}

export function valueAt(object: unknown, pointer: string): unknown {
  const keys = pointer.split('/').slice(1);
  return keys.reduce<unknown>((value, key) => {
    const name = key.replaceAll('~1', '/').replaceAll('~0', '~');
    return typeof value === 'object' && value !== null
      ? Object.entries(value).find(([one]) => one === name)?.[1]
      : undefined;
  }, object);
}

export function other(value: unknown): unknown {
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'number') return value + 1;
  // Still a quantity where it was one, and still base64.
  return /^\d/.test(String(value)) ? `1${String(value)}` : `AAAA${String(value)}`;
}

/** Somebody changes the field. False: the server does not let them. */
export async function drift(
  client: Client,
  kind: Kind,
  object: KubernetesObject,
  op: JsonPatchOperation,
): Promise<boolean> {
  try {
    await client.patch(kind, object.metadata, { type: 'json', operations: [op] });
    return true;
  } catch (error) {
    if (isInvalid(error)) return false;
    throw error;
  }
}
