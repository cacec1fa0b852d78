import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  Client,
  type CustomKind,
  CustomResourceDefinition,
  crdOf,
  kubeconfig,
  Namespace,
  ServiceAccount,
  socketTransport,
} from '@polder/kube';
import { vi } from 'vitest';
import type { ClusterUnderTest } from './clusters.ts';
import { OperatorProcess } from './operator-process.ts';

/** What the operators of a place are started with. */
export interface PlaceOptions {
  /** Of `--products`. */
  readonly product: string;
  readonly kinds: readonly CustomKind[];
  /** What `--config` says. */
  readonly config: string;
  readonly env?: NodeJS.ProcessEnv;
}

export const AS_USER = { fieldManager: 'user', force: true };

/** A namespace, and the operators that look after it and nothing else. */
export class Place {
  readonly namespace: string;
  readonly client: Client;
  readonly patience: number;
  readonly #cluster: ClusterUnderTest;
  readonly #options: PlaceOptions;
  readonly #folder = mkdtempSync(join(tmpdir(), 'polder-blackbox-'));
  readonly #operators: OperatorProcess[] = [];

  constructor(cluster: ClusterUnderTest, client: Client, namespace: string, options: PlaceOptions) {
    this.#cluster = cluster;
    this.#options = options;
    this.patience = cluster.patience;
    this.client = client;
    this.namespace = namespace;
    writeFileSync(this.#config, options.config);
  }

  /** Makes the namespace, and waits until things of all kinds can be made in it. */
  async prepare(): Promise<this> {
    const { kinds } = this.#options;
    for (const kind of kinds) await this.client.apply(CustomResourceDefinition, crdOf(kind), AS_USER);
    await this.client.create(Namespace, { metadata: { name: this.namespace } });
    // Pods are refused until a controller has made it, and resources until the server has taken their kinds in.
    await this.settles(() => this.client.get(ServiceAccount, this.at('default')));
    for (const kind of kinds) await this.settles(() => this.client.list(kind, { namespace: this.namespace }));
    writeFileSync(this.#kubeconfig, await this.#cluster.operatorIn(this.namespace), { mode: 0o600 });
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const operator of this.#operators) await operator.end('SIGKILL');
    await this.client.delete(Namespace, { name: this.namespace });
    await this.client.close();
    rmSync(this.#folder, { recursive: true });
  }

  /** Starts one, and waits until it is at work; or, where another leads, ready to be. */
  async operator(env = this.#options.env, ...more: string[]): Promise<OperatorProcess> {
    const cluster = ['--kubeconfig', this.#kubeconfig, '--namespace', this.namespace, '--config', this.#config];
    const anyPort = ['--metrics-bind-address', ':0', '--health-probe-bind-address', ':0'];
    const operator = new OperatorProcess(['--products', this.#options.product, ...cluster, ...anyPort, ...more], {
      OPERATOR_NAMESPACE: this.namespace,
      ...env,
    });
    this.#operators.push(operator);
    await operator.says(/serving metrics/, this.patience);
    return operator;
  }

  /** Looks again until looking does not fail; in the end its last failure is the case's. */
  settles = <T>(look: () => Promise<T>): Promise<T> => vi.waitFor(look, { timeout: this.patience, interval: 20 });

  at = (name: string) => ({ namespace: this.namespace, name });

  get #kubeconfig(): string {
    return join(this.#folder, 'kubeconfig');
  }

  get #config(): string {
    return join(this.#folder, 'operator.yaml');
  }
}

export const clientOf = async ({ kubeconfig: path }: ClusterUnderTest): Promise<Client> =>
  new Client({ transport: socketTransport(await kubeconfig([path])), userAgent: 'blackbox' });
