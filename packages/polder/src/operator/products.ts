import type { Client, Clock, Logger, Meters, Product, Resolve, Surroundings } from '@polder/kube';
import { nearest } from '@polder/kube';
import type { BuiltInProduct, ProductServer } from '../products.ts';
import type { OperatorConfig } from './config.ts';
import { paceOf, timingsOf } from './intervals.ts';

export interface ProductSurroundings {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly env: NodeJS.ProcessEnv;
  readonly resolve: Resolve;
  /** Where the leases are. */
  readonly namespace: string;
  /** Whose resources are looked after; those of all namespaces without it. */
  readonly namespaces?: readonly string[] | undefined;
  /** Where it is measured, if it is. */
  readonly meters?: Meters | undefined;
}

/** A product as the runtime takes it: its controllers made, with a lease and a pace of its own. */
export function managed(product: BuiltInProduct, config: OperatorConfig, surroundings: ProductSurroundings): Product {
  const { name, fieldManager, lease } = product;
  const { namespace, meters } = surroundings;
  const controllers = product.controllers(around(product, config, surroundings));
  return {
    name,
    fieldManager,
    lease: { namespace, name: lease, timings: timingsOf(config.shared) },
    pace: paceOf(config.shared),
    controllers,
    on: meters && product.metrics?.(meters, controllers),
  };
}

/** What a product serves of its own. */
export function serversOf(
  product: BuiltInProduct,
  config: OperatorConfig,
  surroundings: ProductSurroundings,
): readonly ProductServer[] {
  const { namespaces } = surroundings;
  return product.servers?.({ ...around(product, config, surroundings), namespaces }) ?? [];
}

/** What is made for a product, is made from. */
function around(
  { name }: BuiltInProduct,
  { durations }: OperatorConfig,
  { client, clock, env, resolve, log }: ProductSurroundings,
): Surroundings {
  return { client, clock, env, resolve, intervals: durations[name] ?? {}, log: log.child({ product: name }) };
}

/** Those of `known` that are named, in the order of `known`. Throws if one is not there. */
export function chosen<P extends { readonly name: string }>(
  names: readonly string[],
  known: readonly P[],
): readonly P[] {
  const knownNames = known.map(({ name }) => name);
  for (const name of names.filter((one) => !knownNames.includes(one))) {
    const meant = nearest(name, knownNames);
    const hint = meant === undefined ? `there are: ${knownNames.join(', ')}` : `did you mean ${meant}?`;
    throw new Error(`there is no product ${name}; ${hint}`);
  }
  return known.filter(({ name }) => names.includes(name));
}
