import { type Client, isNotFound, type Kind, type KubernetesObject, nearest } from '@polder/kube';
import type { Manifest } from './read.ts';

interface ResourceList {
  readonly resources: readonly { readonly name: string; readonly kind: string; readonly namespaced: boolean }[];
}

/** Finds out from the cluster itself how the kinds of manifests are served. */
export class ServedKinds {
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  /** Undefined if the cluster does not serve it. */
  async find({ apiVersion, kind }: KubernetesObject): Promise<Kind | undefined> {
    const resources = await this.#resources(apiVersion);
    const found = resources.find((one) => one.kind === kind && !one.name.includes('/'));
    if (!found) return undefined;
    const [version = '', group = ''] = apiVersion.split('/').toReversed();
    return { group, version, kind, plural: found.name, namespaced: found.namespaced };
  }

  /** Why a kind can't be applied, with what may have been meant. */
  async objection({ object, at }: Manifest): Promise<string> {
    const { apiVersion, kind } = object;
    const kinds = (await this.#resources(apiVersion)).filter(({ name }) => !name.includes('/')).map((one) => one.kind);
    const meant = nearest(kind, kinds);
    const hint = meant === undefined ? 'is its CustomResourceDefinition missing?' : `did you mean ${meant}?`;
    return `${at}: the cluster has no kind ${kind} in ${apiVersion}; ${hint}`;
  }

  async #resources(apiVersion: string): Promise<ResourceList['resources']> {
    const path = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    try {
      return (await this.#client.raw<ResourceList>(path)).resources;
    } catch (error) {
      if (isNotFound(error)) return [];
      throw error;
    }
  }
}

/** As kubectl says it: `deployment.apps/hello`. Custom kinds go by their names alone: their groups are longer than the rest. */
export function nameOf({ kind, group }: Kind, { metadata }: KubernetesObject): string {
  const isCustom = group.includes('.') && !group.endsWith('.k8s.io');
  return `${kind.toLowerCase()}${group && !isCustom ? `.${group}` : ''}/${metadata.name}`;
}
