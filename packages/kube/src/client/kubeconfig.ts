import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { type Clock, systemClock } from '../clock/index.ts';
import { type Access, type ClusterConfig, ConfigError } from './config.ts';
import { type ExecBlock, execCredentials } from './exec-credential.ts';
import { inClusterConfig } from './in-cluster.ts';

interface ClusterBlock {
  readonly server?: string;
  readonly 'certificate-authority'?: string;
  readonly 'certificate-authority-data'?: string;
  readonly 'insecure-skip-tls-verify'?: boolean;
  readonly 'tls-server-name'?: string;
  readonly 'proxy-url'?: string;
}

interface UserBlock {
  readonly token?: string;
  readonly tokenFile?: string;
  readonly 'client-certificate'?: string;
  readonly 'client-certificate-data'?: string;
  readonly 'client-key'?: string;
  readonly 'client-key-data'?: string;
  readonly exec?: ExecBlock;
}

interface ContextBlock {
  readonly cluster?: string;
  readonly user?: string;
  readonly namespace?: string;
}

interface Entries {
  readonly clusters: { readonly name: string; readonly cluster: ClusterBlock };
  readonly users: { readonly name: string; readonly user: UserBlock };
  readonly contexts: { readonly name: string; readonly context: ContextBlock };
}

type KubeconfigLists = { readonly [List in keyof Entries]?: readonly Entries[List][] | null };
type KubeconfigFile = KubeconfigLists & { readonly 'current-context'?: string };

/** A block and the folder that its relative paths start from. */
interface Placed<T> {
  readonly block: T;
  readonly folder: string;
}

/** What kubectl can do and we refuse, rather than connect in another way than the user asked for. */
const REFUSED: Readonly<Record<string, string>> = {
  'auth-provider': 'auth-provider was removed from Kubernetes; use an exec plugin',
  username: 'basic authentication was removed from Kubernetes; use a token, a client certificate or an exec plugin',
  as: 'impersonation (as, as-groups, as-uid) is not supported; use a user with the rights that are needed',
};

/**
 * The config that kubectl would use: `path`, or else `KUBECONFIG` (several files, the first to name a thing wins), or else
 * `~/.kube/config`, or else, in a pod, the pod's service account.
 */
export async function loadConfig(options: { path?: string | undefined; clock?: Clock } = {}): Promise<ClusterConfig> {
  const clock = options.clock ?? systemClock;
  const named = options.path ?? process.env['KUBECONFIG'];
  const home = join(homedir(), '.kube', 'config');
  if (!named && !existsSync(home)) {
    if (process.env['KUBERNETES_SERVICE_HOST']) return inClusterConfig(clock);
    throw new ConfigError(`no kubeconfig: give --kubeconfig, set KUBECONFIG, or create ${home}`);
  }
  return kubeconfig(named ? named.split(delimiter).filter((path) => path !== '') : [home], clock);
}

/** The current context of the given kubeconfig files. */
export async function kubeconfig(paths: readonly string[], clock: Clock = systemClock): Promise<ClusterConfig> {
  const files = await Promise.all(paths.map(readKubeconfig));
  const where = paths.join(delimiter);
  const current = files.map(({ block }) => block['current-context']).find(Boolean);
  if (!current)
    throw new ConfigError(`${where}: no current-context; choose one with 'kubectl config use-context NAME'`);
  const context = find(files, 'contexts', current, where).block.context;
  const { block: clusterEntry, folder } = find(files, 'clusters', context.cluster ?? '', where);
  const cluster = clusterEntry.cluster;
  const user = context.user ? find(files, 'users', context.user, where) : { block: { name: '', user: {} }, folder };

  if (!cluster.server) throw new ConfigError(`${where}: cluster ${clusterEntry.name} has no server`);
  if (cluster['proxy-url']) {
    throw new ConfigError(
      `${where}: cluster ${clusterEntry.name} has proxy-url ${cluster['proxy-url']}: proxies are not supported. Use a context that reaches the API server directly.`,
    );
  }
  for (const [field, because] of Object.entries(REFUSED)) {
    if (field in user.block.user) throw new ConfigError(`${where}: user ${user.block.name} has ${field}: ${because}`);
  }
  return {
    server: cluster.server.replace(/\/+$/, ''),
    namespace: context.namespace ?? 'default',
    serverName: cluster['tls-server-name'],
    insecure: cluster['insecure-skip-tls-verify'],
    ...accessOf({ block: cluster, folder }, { block: user.block.user, folder: user.folder }, clock),
  };
}

function accessOf(
  { block: cluster, folder }: Placed<ClusterBlock>,
  { block: user, folder: userFolder }: Placed<UserBlock>,
  clock: Clock,
): Pick<ClusterConfig, 'access' | 'forget'> {
  const ca = () => material(cluster['certificate-authority-data'], cluster['certificate-authority'], folder);
  const cert = () => material(user['client-certificate-data'], user['client-certificate'], userFolder);
  const key = () => material(user['client-key-data'], user['client-key'], userFolder);
  const token = async () =>
    user.token ?? (user.tokenFile ? (await readText(resolve(userFolder, user.tokenFile))).trim() : undefined);
  const exec =
    user.exec &&
    execCredentials(
      user.exec,
      { server: cluster.server, 'certificate-authority-data': cluster['certificate-authority-data'] },
      clock,
    );

  // Files are read again now and then, as kubectl does at every start: a login tool may have renewed them.
  let remembered: { readonly access: Access; readonly at: number } | undefined;
  const fromFiles = async (): Promise<Access> => {
    if (remembered && clock.monotonic() - remembered.at < 60_000) return remembered.access;
    const bearer = await token();
    const access = {
      authorization: bearer && `Bearer ${bearer}`,
      ca: await ca(),
      cert: await cert(),
      key: await key(),
    };
    remembered = { access, at: clock.monotonic() };
    return access;
  };
  return {
    async access() {
      const access = await fromFiles();
      if (!exec) return access;
      const { token: bearer, clientCertificateData, clientKeyData } = await exec.get();
      return {
        ca: access.ca,
        authorization: bearer && `Bearer ${bearer}`,
        cert: clientCertificateData,
        key: clientKeyData,
      };
    },
    forget() {
      remembered = undefined;
      exec?.forget();
    },
  };
}

async function material(
  data: string | undefined,
  path: string | undefined,
  folder: string,
): Promise<string | undefined> {
  if (data) return Buffer.from(data, 'base64').toString('utf8');
  return path ? readText(resolve(folder, path)) : undefined;
}

async function readKubeconfig(path: string): Promise<Placed<KubeconfigFile>> {
  const text = await readText(path);
  // Loaded only here: a pod, which has no kubeconfig, is spared its 13 MB.
  const { parse } = await import('yaml');
  try {
    const block: KubeconfigFile | null = parse(text);
    return { block: block ?? {}, folder: dirname(resolve(path)) };
  } catch (cause) {
    throw new ConfigError(`${path} is not YAML: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new ConfigError(`cannot read ${path}`, { cause });
  }
}

function find<List extends keyof Entries>(
  files: readonly Placed<KubeconfigFile>[],
  list: List,
  name: string,
  where: string,
): Placed<Entries[List]> {
  for (const { block, folder } of files) {
    const lists: KubeconfigLists = block;
    const entry = lists[list]?.find((one) => one.name === name);
    if (entry) return { block: entry, folder };
  }
  throw new ConfigError(`${where}: there is no ${list.slice(0, -1)} named "${name}"`);
}
