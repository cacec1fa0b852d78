import { DataFlow } from '@polder/dataflow';
import type { CustomKind } from '@polder/kube';

/** One of the systems that Polder runs: the kinds it defines. */
export interface BuiltInProduct {
  readonly name: string;
  readonly kinds: readonly CustomKind[];
}

/** The products of this program, in the order in which they are listed and started. */
export const products: readonly BuiltInProduct[] = [{ name: 'dataflow', kinds: [DataFlow] }];
