import type { CustomKind, Intervals, Registration, Surroundings } from '@polder/kube';

/** One of the systems that Polder runs: the kinds it defines, and the controllers that make them true. */
export interface BuiltInProduct {
  /** Short, for `--products`, logs and metrics: `qdrant`. */
  readonly name: string;
  readonly kinds: readonly CustomKind[];
  /** The Lease by which one operator of several leads. It is upstream's own, so that upstream's can't lead beside ours. */
  readonly lease: string;
  /** How long its controllers wait for things, by name: the configuration can change each of them. */
  readonly intervals: Intervals;
  controllers(surroundings: Surroundings): readonly Registration[];
}

/** The products of this program, in the order in which they are listed and started. */
export const products: readonly BuiltInProduct[] = [];
