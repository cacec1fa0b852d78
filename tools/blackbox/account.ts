import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parseAllDocuments, stringify } from 'yaml';

const DEPLOY = join(import.meta.dirname, '../../deploy');
/** The namespace that the manifests of deploy/ put the operator into. */
const SYSTEM = 'polder-system';
const RIGHTS = ['ServiceAccount', 'ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'];

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

interface Kubeconfig {
  readonly users: readonly { readonly name: string }[];
}

/**
 * The text of a kubeconfig of the account that `deploy/` gives the operator, with a namespace in the place of its own: what
 * that account may not do, fails.
 */
export async function operatorAccount(kubectl: string, kubeconfig: string, namespace: string): Promise<string> {
  const run = async (args: readonly string[], stdin?: string) => {
    const running = promisify(execFile)(kubectl, ['--kubeconfig', kubeconfig, '--namespace', namespace, ...args]);
    running.child.stdin?.end(stdin);
    return (await running).stdout;
  };
  await run(['apply', '-f', '-'], rightsIn(namespace));
  const token = (await run(['create', 'token', 'polder'])).trim();
  const [config]: Kubeconfig[] = parseAllDocuments(readFileSync(kubeconfig, 'utf8')).map((document) => document.toJS());
  return stringify({ ...config, users: config?.users.map(({ name }) => ({ name, user: { token } })) });
}

/** The bindings have names of their own, because operators of several namespaces have the same roles. */
function rightsIn(namespace: string): string {
  const text = ['roles.yaml', 'operator.yaml'].map((name) => readFileSync(join(DEPLOY, name), 'utf8')).join('\n---\n');
  const manifests: readonly Manifest[] = parseAllDocuments(text.replaceAll(SYSTEM, namespace)).map((one) => one.toJS());
  return manifests
    .filter(({ kind }) => RIGHTS.includes(kind))
    .map((one) =>
      one.kind === 'ClusterRoleBinding' ? { ...one, metadata: { name: `${one.metadata.name}-${namespace}` } } : one,
    )
    .map((one) => stringify(one))
    .join('---\n');
}
