import type { Clock } from '../clock/index.ts';
import {
  Cluster,
  type ClusterParts,
  type Controller,
  type Pace,
  type Preview,
  preview,
  Runner,
  type RunnerOptions,
  type Step,
  WORKERS,
  type World,
} from '../controller/index.ts';
import type { Kind, KubernetesObject } from '../kinds/index.ts';
import type { Timings } from '../lease/index.ts';
import type { Logger } from '../log.ts';
import type { ProductEvents } from './events.ts';

/** Controllers that are led together: one lease, one field manager. */
export interface Product {
  /** Short, for logs and metrics: `qdrant`. */
  readonly name: string;
  /** Under this name we own fields. */
  readonly fieldManager: string;
  /** Where the leader is chosen. Without it this process always leads: then it must be the only one. */
  readonly lease?: { readonly namespace: string; readonly name: string; readonly timings?: Timings } | undefined;
  readonly controllers: readonly Registration[];
  /** `DEFAULT_PACE` unless told otherwise. */
  readonly pace?: Pace | undefined;
  /** For metrics under names of its own, beside those of the runtime. */
  readonly on?: ProductEvents | undefined;
}

/** A controller together with its world, their types folded away. Made by `register`. */
export interface Registration {
  readonly kind: Kind;
  /** All kinds that it watches or applies. */
  readonly kinds: readonly Kind[];
  /** The kinds of the objects that it makes. */
  readonly owns: readonly Kind[];
  readonly workers: number;
  /** The name under which its events are told, if not that of the product. */
  readonly reportsAs: string | undefined;
  run(options: Omit<RunnerOptions<World>, 'world'>): AnyRunner;
  /** What a pass over this resource, which is of its kind, would do. */
  preview(resource: KubernetesObject, options: PreviewOptions): Promise<Preview>;
}

export interface PreviewOptions {
  readonly parts: ClusterParts;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

export type AnyRunner = Pick<Runner<KubernetesObject, unknown, Step, World>, 'name' | 'listen' | 'start' | 'stop'>;

/** Puts a controller together with what its passes need beyond the cluster, if anything: the clients of the systems it manages. */
export function register<T extends KubernetesObject, Observed, S extends Step, W extends World>(
  // The compiler lets a method ask for more than it is called with; here it must not.
  definition: Controller<T, Observed, S, W> & (World extends W ? unknown : never),
): Registration;
export function register<T extends KubernetesObject, Observed, S extends Step, W extends World>(
  definition: Controller<T, Observed, S, W>,
  world: (base: World) => W,
): Registration;
export function register<T extends KubernetesObject, Observed, S extends Step>(
  definition: Controller<T, Observed, S, World>,
  world: (base: World) => World = (base) => base,
): Registration {
  const { kind, owns = [], watches = [] } = definition;
  return {
    kind,
    kinds: [kind, ...owns, ...watches.map((watch) => watch.kind)],
    owns,
    workers: definition.workers ?? WORKERS,
    reportsAs: definition.reportsAs,
    run: (options) => new Runner(definition, { ...options, world }),
    preview(resource: T, { parts, clock, log, signal }: PreviewOptions) {
      const base = { cluster: new Cluster(parts, signal), signal, log, tell: () => {} };
      return preview(definition, resource, { world: world(base), clock });
    },
  };
}
