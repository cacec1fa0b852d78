import type { SecretRefPath } from '@polder/engine/spec';
import { keyOf, type Secret } from '@polder/kube';
import type { DataFlow } from '../kinds/index.ts';
import { namespaceOf } from '../objects/index.ts';
import { secretRefsIn } from '../secret-refs.ts';

export type Resolution =
  /** The values, by where they belong. */
  | { readonly is: 'resolved'; readonly values: ReadonlyMap<string, string> }
  /** All that is missing, with no value in it. */
  | { readonly is: 'unresolved'; readonly because: string };

/** The values of all references to Secrets. Those in other namespaces are looked at only if `allowed` names them. */
export function resolveSecrets(
  flow: DataFlow,
  secrets: ReadonlyMap<string, Secret>,
  allowed: readonly string[],
): Resolution {
  const own = namespaceOf(flow);
  const values = new Map<string, string>();
  const problems: string[] = [];
  for (const ref of secretRefsIn(flow.spec)) {
    const namespace = ref.namespace ?? own;
    const isAllowed = namespace === own || allowed.includes(namespace);
    const found = isAllowed ? valueOf(ref, namespace, secrets) : { problem: forbidden(ref, namespace) };
    if ('problem' in found) problems.push(`${ref.field}: ${found.problem}`);
    else values.set(ref.pointer, found.value);
  }
  return problems.length === 0 ? { is: 'resolved', values } : { is: 'unresolved', because: problems.join('; ') };
}

type Found = { readonly value: string } | { readonly problem: string };

function valueOf({ name, key }: SecretRefPath, namespace: string, secrets: ReadonlyMap<string, Secret>): Found {
  const where = keyOf({ namespace, name });
  const secret = secrets.get(where);
  if (!secret) return { problem: `failed to get secret ${where} (for its key ${key}): not found` };
  const encoded = secret.data && Object.hasOwn(secret.data, key) ? secret.data[key] : undefined;
  if (encoded === undefined) return { problem: `key ${key} not found in secret ${where}` };
  const value = Buffer.from(encoded, 'base64').toString('utf8');
  return value === '' ? { problem: `key ${key} in secret ${where} is empty` } : { value };
}

const forbidden = ({ name }: SecretRefPath, namespace: string) =>
  `secret ${namespace}/${name} is in another namespace, which the operator was not told to allow`;
