import type {
  Cached,
  CustomKind,
  Intervals,
  Meters,
  ProductEvents,
  Registration,
  Surroundings,
  Webhook,
} from '@polder/kube';
import type { Hono } from 'hono';
import type { BindAddress } from './bind-address.ts';
import { dataflowIntervals, qdrantIntervals } from './intervals.ts';
import type { Gauge } from './operator/exposition.ts';

/** One of the systems that Polder runs: the kinds it defines, and the controllers that make them true. */
export interface BuiltInProduct {
  /** Short, for `--products`, logs and metrics: `qdrant`. */
  readonly name: string;
  readonly kinds: readonly CustomKind[];
  /** Under this name it owns the fields of what it makes. It never changes: the fields of another name are left behind. */
  readonly fieldManager: string;
  /** The Lease by which one operator of several leads. It is upstream's own, so that upstream's can't lead beside ours. */
  readonly lease: string;
  /** How long its controllers wait for things, by name: the configuration can change each of them. */
  readonly intervals: Intervals;
  controllers(surroundings: Surroundings): readonly Registration[];
  /** HTTP of its own: served by every operator of several, whether it leads or not. */
  servers?(surroundings: ServerSurroundings): readonly ProductServer[];
  /** What is to be asked before its resources are stored. What is cached may be old, or nothing yet: good for warnings. */
  webhooks?(cached: Cached): readonly ProductWebhook[];
  /** Pods whose metrics the operator serves beside its own. */
  readonly meters?: MeteredPods;
  /** What happens to it, under names of its own: every operator serves them, also one that does not lead. */
  metrics?(meters: Meters, controllers: readonly Registration[]): ProductEvents;
  /** What the operator tells of the resources themselves. */
  gauges?(cached: Cached): readonly Gauge[];
}

export interface ServerSurroundings extends Surroundings {
  /** Whose resources are looked after; those of all namespaces without it. */
  readonly namespaces: readonly string[] | undefined;
}

export interface ProductServer {
  /** For the log: `the Qdrant API`. */
  readonly name: string;
  readonly app: Hono;
  readonly bindAddress: BindAddress;
  /** Served over TLS, with `tls.crt` and `tls.key` of this folder; plain without it. */
  readonly certificateDirectory?: string | undefined;
}

export interface ProductWebhook {
  /** As users see it in refusals: `admission webhook "NAME" denied the request`. */
  readonly name: string;
  readonly path: string;
  readonly kind: CustomKind;
  readonly webhook: Webhook;
}

export interface MeteredPods {
  /** By which labels they are found: `app=dataflow-processor`. */
  readonly labelSelector: string;
  readonly port: number;
  /** Only families whose names begin so: what else a process says of itself is for its own page. */
  readonly prefix: string;
}

/** A product whose code is not loaded yet: what the command line and the configuration have to know of it. */
export interface KnownProduct extends Pick<BuiltInProduct, 'name' | 'intervals'> {
  load(): Promise<BuiltInProduct>;
}

/** The products of this program, in the order in which they are listed and started. Who runs one has no use for the others. */
export const knownProducts: readonly KnownProduct[] = [
  {
    name: 'dataflow',
    intervals: dataflowIntervals,
    load: async () => (await import('./dataflow.ts')).dataflowProduct,
  },
  { name: 'qdrant', intervals: qdrantIntervals, load: async () => (await import('./qdrant.ts')).qdrantProduct },
];

export const loadProducts = (known: readonly KnownProduct[] = knownProducts): Promise<readonly BuiltInProduct[]> =>
  Promise.all(known.map((product) => product.load()));
