import type { Index } from '../cache/index.ts';
import type { Happening } from '../events/index.ts';
import type { Kind, KubernetesObject, ObjectRef } from '../kinds/index.ts';
import type { Logger } from '../log.ts';
import type { Bell } from './bell.ts';
import type { Cluster } from './cluster.ts';
import type { Plan, Reported, Step } from './plan.ts';

/** What `observe` and the steps may touch. A product adds the clients of the systems it manages. */
export interface World {
  readonly cluster: Cluster;
  /** Aborts when the pass takes too long, when leadership is lost and when the program stops. Pass it to every call. */
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** Records an event about the resource of this pass: what a step did that no status shows. */
  readonly tell: (happening: Happening) => void;
}

/** The type of a resource's status. */
export type StatusOf<T> = T extends { readonly status?: infer Status } ? NonNullable<Status> : never;

/**
 * A controller is three functions, called in this order for each resource that may have something to do:
 * 1. `observe` reads, and only reads: the cluster, the managed system. A failed read is a value (`Known`).
 * 2. `plan` decides, and only decides: no I/O, no clock, no randomness. Same input, same plan.
 * 3. `steps` act: one for each name that a plan can use, which the compiler checks.
 *
 * Objects are applied, and status is written, by the runtime. No step relies on an earlier pass: a crash between any two
 * writes is harmless, because the next pass observes again and plans afresh.
 */
export interface Controller<T extends KubernetesObject, Observed, S extends Step, W extends World> {
  readonly kind: Kind<T>;
  /** Their objects get an owner reference to the resource, and their changes bring it back into the queue. */
  readonly owns?: readonly Kind[];
  /** What of those matters, where it is not everything: of these kinds, nothing that we write ourselves does. */
  readonly heeds?: readonly Heed[];
  /** Other objects whose changes concern a resource. */
  readonly watches?: readonly Watch[];
  /** Rung when something happened outside the cluster that concerns a resource. */
  readonly bell?: Bell;
  /** Kept on the resource while `plan` has not said `isCleanedUp`: for what owner references can't reach. */
  readonly finalizer?: string;
  /**
   * Whether a resource has, or is about to have, something that has to be cleaned up after it. Left out: always. One that has
   * nothing carries no finalizer, so that it goes at once, also while no controller runs.
   */
  needsFinalizer?(resource: T): boolean;
  observe(resource: T, world: W): Promise<Observed>;
  plan(resource: T, observed: Observed, now: Date): Plan<S, StatusOf<T>>;
  readonly steps: Steps<S, W>;
  /** The event about the resource once a step was carried out, if it is one that users should hear of. */
  tells?(step: S): Happening | undefined;
  /**
   * `kstatus` (the default): the runtime keeps the conditions Ready, Reconciling and Stalled and `observedGeneration`, on
   * every path out of a pass. `as-planned`: the plan's status is written as it is, for kinds whose conditions are fixed.
   */
  readonly status?: 'kstatus' | 'as-planned';
  /** What the status says after a pass that failed, conditions of `kstatus` aside. Left out: what it said before. */
  failed?(resource: T, error: unknown, now: Date): Reported<StatusOf<T>>;
  /** Plan for resources that are being deleted even if they carry no finalizer of ours: whoever ends them has to see them. */
  readonly seesDeleted?: boolean;
  /** There is no such resource any more: for what a controller holds in memory. */
  forget?(ref: ObjectRef): void;
  /** The name under which its events are told. Default: the product's field manager. */
  readonly reportsAs?: string;
  /** How many resources are worked on at once. Default 4: passes mostly wait for answers. */
  readonly workers?: number;
  /** A pass that takes longer is given up and tried again. Default: as the product's pace has it. */
  readonly timeoutMs?: number;
}

/** Carries out one kind of step. (A method's type, so that the runtime can call it with the step that has its name.) */
export type Act<S extends Step, W extends World> = { act(step: S, world: W): Promise<void> }['act'];

/** How every step is carried out that a plan can name. */
export type Steps<S extends Step, W extends World> = { readonly [Name in S['do']]: Act<StepNamed<S, Name>, W> };

/** The one among several steps, by its name. */
export type StepNamed<S extends Step, Name extends S['do']> = Extract<S, { readonly do: Name }>;

/** Checks a controller's types together; see `Controller`. */
export const controller = <T extends KubernetesObject, Observed, S extends Step, W extends World>(
  definition: Controller<T, Observed, S, W>,
): Controller<T, Observed, S, W> => definition;

/** Changes of other objects, and the resources they concern. */
export interface Watch {
  readonly kind: Kind;
  /** Called with the new state and, after a change, with the old one too; never with an object of another kind. */
  concerns(object: KubernetesObject, cached: Lookup): readonly ObjectRef[];
  /** What of the object matters; see `Heed`. Left out: everything. */
  matters?(object: KubernetesObject): unknown;
}

/**
 * What of the objects of a kind a controller decides by. A change of anything else brings nobody back into the queue, nor does
 * an object that is new and of which nothing matters yet (undefined). That one is gone always matters. Whoever leaves out what
 * decides waits for the next look instead of the next event.
 */
export interface Heed {
  readonly kind: Kind;
  matters(object: KubernetesObject): unknown;
}

/** What the cache holds at this moment of the kinds that the controller watches: to find the resources that an object concerns. */
export interface Cached {
  list<T extends KubernetesObject>(kind: Kind<T>, namespace?: string): readonly T[];
}

/** The same, and what it holds by an index. */
export interface Lookup extends Cached {
  by<T extends KubernetesObject>(index: Index<T>, value: string): readonly T[];
}

/** `watch(Secret, (secret) => …)`: a `Watch` whose functions know the type of their objects. */
export function watch<T extends KubernetesObject>(
  kind: Kind<T>,
  concerns: (object: T, cached: Lookup) => readonly ObjectRef[],
  matters?: (object: T) => unknown,
): Watch {
  return { kind, concerns, ...(matters && { matters }) };
}

/** `heed(StatefulSet, ({ spec }) => spec)`: a `Heed` whose function knows the type of its objects. */
export function heed<T extends KubernetesObject>(kind: Kind<T>, matters: (object: T) => unknown): Heed {
  return { kind, matters };
}

/** The head of an object, without what changes with every write. */
export const headOf = ({ metadata }: KubernetesObject): object => ({ ...metadata, resourceVersion: '', generation: 0 });
