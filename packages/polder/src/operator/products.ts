import type { Client, Clock, Logger, Meters, Product, Resolve } from '@polder/kube';
import { nearest } from '@polder/kube';
import type { BuiltInProduct } from '../products.ts';
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
  /** Where it is measured, if it is. */
  readonly meters?: Meters | undefined;
}

/** A product as the runtime takes it: its controllers made, with a lease and a pace of its own. */
export function managed(
  product: BuiltInProduct,
  config: OperatorConfig,
  { namespace, log, meters, ...surroundings }: ProductSurroundings,
): Product {
  const { name, fieldManager, lease } = product;
  const intervals = config.durations[name] ?? {};
  const controllers = product.controllers({ ...surroundings, intervals, log: log.child({ product: name }) });
  return {
    name,
    fieldManager,
    lease: { namespace, name: lease, timings: timingsOf(config.shared) },
    pace: paceOf(config.shared),
    controllers,
    on: meters && product.metrics?.(meters, controllers),
  };
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
