import type { NewCondition, Summary } from '../conditions/index.ts';
import type { Happening } from '../events/index.ts';
import type { KubernetesObject } from '../kinds/index.ts';

/** What a read gave: the value, or why we do not know it. A plan has to say what it does when it does not know. */
export type Known<T> =
  | { readonly known: true; readonly value: T }
  | { readonly known: false; readonly because: string };

export const known = <T>(value: T): Known<T> => ({ known: true, value });
export const unknown = (because: string): Known<never> => ({ known: false, because });

/** Something to do outside the cluster, or to remove inside it. Plain data: it can be printed, logged, counted, compared. */
export interface Step {
  readonly do: string;
  readonly because: string;
}

/** A step that a rule keeps from being carried out now. */
export interface Held<S extends Step = Step> {
  readonly step: S;
  readonly rule: string;
  readonly because: string;
}

/** For people: `drop-node is held by require-started-replica: …`. */
export const sentenceOf = ({ step, rule, because }: Held): string => `${step.do} is held by ${rule}: ${because}`;

/** What a resource's controller decided, given what it observed. */
export interface Plan<S extends Step, Status> {
  /** Applied in this order. Absence deletes nothing: to remove an object is a step, with a reason and under the rules. */
  readonly objects: readonly KubernetesObject[];
  /** Carried out in this order, after the objects. */
  readonly steps: readonly S[];
  readonly held: readonly Held<S>[];
  /** The resource's whole status; `conditions` and `observedGeneration` are added by the runtime. */
  readonly status: Reported<Status>;
  /** How the resource is doing. Left out: `reconciling` while there are steps or held ones, `ready` otherwise. */
  readonly summary?: Summary;
  /** Conditions beside Ready, Reconciling and Stalled. */
  readonly conditions?: readonly NewCondition[];
  /**
   * Emitted if, and only if, this pass changes the status or ends the resource: what nobody can see changed is no news. Left
   * out: one event if the resource is doing otherwise than before, with the reason of its condition Ready.
   */
  readonly events?: readonly Happening[];
  /** Come back at this time even if nothing changes in the cluster. */
  readonly lookAgain?: { readonly afterMs: number; readonly because: string };
  /**
   * The next pass follows at once, and is the one to tell: the status of this one would be out of date before anybody reads
   * it. It must say nothing that has to be remembered. (Of two such passes in a row the second does tell.)
   */
  readonly isInterim?: boolean;
  /** The resource is being deleted and nothing of it is left outside the cluster: the finalizer may go. */
  readonly isCleanedUp?: boolean;
}

/** A status in which what the runtime adds may be left out. */
export type Reported<Status> = Omit<Status, Kept> & Partial<Pick<Status, Kept & keyof Status>>;
type Kept = 'conditions' | 'observedGeneration';

/** A rule has a name that users see, and forbids a step in a situation by saying why. Silence permits. */
export interface Rule<S extends Step, Situation> {
  readonly name: string;
  forbids(step: S, situation: Situation): string | undefined;
}

/** Splits what we would like to do into what may be done now and what waits, each with the first rule that holds it. */
export function judge<S extends Step, Situation>(
  wanted: readonly S[],
  rules: readonly Rule<S, Situation>[],
  situation: Situation,
): { readonly steps: S[]; readonly held: Held<S>[] } {
  const steps: S[] = [];
  const held: Held<S>[] = [];
  for (const step of wanted) {
    const objection = firstObjection(step, rules, situation);
    if (objection) held.push(objection);
    else steps.push(step);
  }
  return { steps, held };
}

function firstObjection<S extends Step, Situation>(
  step: S,
  rules: readonly Rule<S, Situation>[],
  situation: Situation,
): Held<S> | undefined {
  for (const rule of rules) {
    const because = rule.forbids(step, situation);
    if (because !== undefined) return { step, rule: rule.name, because };
  }
  return undefined;
}
