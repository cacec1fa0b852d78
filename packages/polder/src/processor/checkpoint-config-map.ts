import type { CheckpointStore } from '@polder/engine';
import { Client, ConfigMap, isNotFound, loadConfig, socketTransport } from '@polder/kube';
import { version } from '../version.ts';

/** Keeps checkpoints in a ConfigMap of the cluster, which the operator has made: a key for each, as JSON. */
export class CheckpointConfigMap implements CheckpointStore {
  readonly #client: Pick<Client, 'get' | 'patch'>;
  readonly #ref: { readonly namespace: string; readonly name: string };

  /** Of the cluster that this process runs in, or that its kubeconfig names. */
  static async inCluster(ref: { readonly namespace: string; readonly name: string }): Promise<CheckpointConfigMap> {
    const transport = socketTransport(await loadConfig());
    return new CheckpointConfigMap(new Client({ transport, userAgent: `polder/${version}` }), ref);
  }

  constructor(client: Pick<Client, 'get' | 'patch'>, ref: { readonly namespace: string; readonly name: string }) {
    this.#client = client;
    this.#ref = ref;
  }

  async load(key: string): Promise<unknown> {
    let text: string | undefined;
    try {
      text = (await this.#client.get(ConfigMap, this.#ref)).data?.[key];
    } catch (error) {
      // One that was deleted is made again, empty: it was to be read from the beginning.
      if (!isNotFound(error)) throw error;
    }
    if (text === undefined) return undefined;
    try {
      return JSON.parse(text);
    } catch {
      const { namespace, name } = this.#ref;
      throw new Error(
        `key ${key} of the ConfigMap ${namespace}/${name} is no JSON; delete the key to read from the beginning`,
      );
    }
  }

  async save(key: string, checkpoint: unknown): Promise<void> {
    const data = { [key]: JSON.stringify(checkpoint) };
    await this.#client.patch(ConfigMap, this.#ref, { type: 'merge', body: { data } });
  }
}
