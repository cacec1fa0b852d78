import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Wire } from './wire.ts';

/**
 * What a case stands on: the wire and fresh names, so that cases can run in any order and beside each other. Its members
 * are functions of their own (not methods), because cases take the world apart.
 */
export class World {
  readonly wire: Wire;

  constructor(wire: Wire) {
    this.wire = wire;
  }

  fresh = (prefix: string): string => `${prefix}-${randomBytes(4).toString('hex')}`;

  /** A new namespace. */
  namespace = async (): Promise<string> => {
    const name = this.fresh('contract');
    await this.wire.must(this.wire.create('/api/v1/namespaces', { metadata: { name } }));
    return name;
  };

  /** A new custom resource, served. */
  customResource = async (options: CustomResourceOptions = {}): Promise<CustomResource> => {
    const group = `${this.fresh('contract')}.example.com`;
    const definition = definitionOf(group, options);
    const name = `widgets.${group}`;
    await this.wire.must(this.wire.create(DEFINITIONS, definition));
    const version = options.versions?.[0]?.name ?? 'v1';
    // The server answers 404 until it has taken the definition up.
    await eventually(`${name} is served`, async () => {
      const answer = await this.wire.get(`/apis/${group}/${version}/widgets?limit=1`);
      return answer.status === 200;
    });
    const at = (namespace: string, version: string) =>
      options.scope === 'Cluster'
        ? `/apis/${group}/${version}/widgets`
        : `/apis/${group}/${version}/namespaces/${namespace}/widgets`;
    return {
      group,
      apiVersion: `${group}/${version}`,
      definition: `${DEFINITIONS}/${name}`,
      collection: (namespace, of = version) => at(namespace, of),
      widget: (name, fields = {}) => ({
        apiVersion: `${group}/${version}`,
        kind: 'Widget',
        metadata: { name },
        ...fields,
      }),
    };
  };
}

export const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

export type Schema = Readonly<Record<string, unknown>>;

export interface CustomResourceOptions {
  /** The schema of `spec`. */
  readonly spec?: Schema;
  /** The schema of `status`. */
  readonly status?: Schema;
  /** Beside spec and status, at the root of the schema. */
  readonly root?: Schema;
  readonly scope?: 'Namespaced' | 'Cluster';
  readonly subresources?: Readonly<Record<string, unknown>>;
  readonly columns?: readonly Readonly<Record<string, unknown>>[];
  readonly selectableFields?: readonly { readonly jsonPath: string }[];
  /** Several versions of the one schema; the first is stored. */
  readonly versions?: readonly { readonly name: string; readonly served?: boolean; readonly deprecated?: boolean }[];
  readonly names?: Readonly<Record<string, unknown>>;
}

export interface CustomResource {
  readonly group: string;
  readonly apiVersion: string;
  /** The path of the definition itself. */
  readonly definition: string;
  collection(namespace: string, version?: string): string;
  widget(name: string, fields?: Readonly<Record<string, unknown>>): Record<string, unknown>;
}

const ANYTHING = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

export function definitionOf(group: string, options: CustomResourceOptions = {}): Record<string, unknown> {
  const versions = options.versions ?? [{ name: 'v1' }];
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `widgets.${group}` },
    spec: {
      group,
      scope: options.scope ?? 'Namespaced',
      names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList', ...options.names },
      versions: versions.map(({ name, served = true, deprecated = false }, index) => ({
        name,
        served,
        storage: index === 0,
        ...(deprecated && { deprecated }),
        schema: {
          openAPIV3Schema: {
            type: 'object',
            ...options.root,
            properties: { spec: options.spec ?? ANYTHING, status: options.status ?? ANYTHING },
          },
        },
        ...(options.subresources && { subresources: options.subresources }),
        ...(options.columns && { additionalPrinterColumns: options.columns }),
        ...(options.selectableFields && { selectableFields: options.selectableFields }),
      })),
    },
  };
}

/** Asks again until the claim holds: for what a server takes up in its own time (definitions, webhooks, discovery). */
export async function eventually(claim: string, holds: () => Promise<boolean>, within = 15_000): Promise<void> {
  const deadline = performance.now() + within;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`not true within ${within} ms: ${claim}`);
    await sleep(20);
  }
}
