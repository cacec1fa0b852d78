import { ApiError, isConflict } from '../client/index.ts';
import type { Clock } from '../clock/index.ts';
import {
  type Condition,
  findCondition,
  type NewCondition,
  type Summary,
  sameStatus,
  setCondition,
  summarize,
} from '../conditions/index.ts';
import type { EventRecorder, Happening } from '../events/index.ts';
import type { Kind, KubernetesObject } from '../kinds/index.ts';
import { messageOf } from '../log.ts';
import type { Cluster } from './cluster.ts';
import { UserMustAct } from './outcome.ts';
import type { PassEvents } from './pass.ts';
import { type Plan, type Step, sentenceOf } from './plan.ts';

/** Writes what a pass found and did into the resource's status: once, and only if it says something new. */
export class Report<T extends Reporting> {
  readonly #how: HowToReport<T>;
  readonly #resource: T;
  readonly #isKstatus: boolean;
  readonly #tools: ReportTools;

  constructor(how: HowToReport<T>, resource: T, tools: ReportTools) {
    this.#how = how;
    this.#resource = resource;
    this.#isKstatus = how.status !== 'as-planned';
    this.#tools = tools;
  }

  /** What the status says now; undefined if the resource changed meanwhile: then this is no longer how it is doing. */
  async plan<S extends Step>(plan: Plan<S, object>): Promise<object | undefined> {
    const status = this.#statusOf(plan);
    try {
      await this.#write(status, plan.events ?? (this.#isKstatus ? this.#transition(status.conditions ?? []) : []));
    } catch (error) {
      if (isConflict(error)) return undefined;
      throw error;
    }
    this.#tools.on.reported?.(this.#resource, plan);
    return status;
  }

  /** Whether the status says what this plan would have it say. */
  isTold<S extends Step>(plan: Plan<S, object>): boolean {
    return sameStatus(this.#resource.status ?? {}, this.#statusOf(plan));
  }

  /** What was known before stays; how the resource is doing is news. */
  async failure(error: unknown): Promise<void> {
    const told = this.#how.failed?.(this.#resource, error, new Date(this.#tools.clock.now()));
    if (!this.#isKstatus) return told && (await this.#write(told, []));
    const status = this.#judged(told ?? this.#resource.status ?? {}, summaryOfFailure(error), []);
    await this.#write(status, this.#transition(status.conditions));
  }

  #statusOf<S extends Step>(plan: Plan<S, object>): Status {
    return this.#isKstatus ? this.#judged(plan.status, summaryOf(plan), plan.conditions ?? []) : plan.status;
  }

  async #write(status: object, events: readonly Happening[]): Promise<void> {
    if (sameStatus(this.#resource.status ?? {}, status)) return;
    const written = this.#tools.cluster.applyStatus(this.#how.kind, this.#resource, status);
    await written.catch((error: unknown) => {
      if (isConflict(error)) this.#tools.on.conflicted?.();
      throw error;
    });
    for (const event of events) this.#tools.events.record(this.#resource, event);
  }

  /** An event if the resource is doing otherwise than before; a new wording of the same is none. */
  #transition(conditions: readonly Condition[]): readonly Happening[] {
    const before = findCondition(this.#resource.status?.conditions, 'Ready');
    const after = findCondition(conditions, 'Ready');
    if (!after || (before?.status === after.status && before.reason === after.reason)) return [];
    const isTrouble = after.reason === FAILED || findCondition(conditions, 'Stalled')?.status === 'True';
    const note = after.message === '' ? 'as it should be' : after.message;
    return [{ type: isTrouble ? 'Warning' : 'Normal', reason: after.reason, action: 'Reconcile', note }];
  }

  #judged(status: object, summary: Summary, extra: readonly NewCondition[]) {
    const { generation } = this.#resource.metadata;
    const now = this.#tools.clock.now();
    let conditions = summarize(this.#resource.status?.conditions ?? [], summary, generation, now);
    for (const one of extra) conditions = setCondition(conditions, one, now);
    return { ...status, ...(generation !== undefined && { observedGeneration: generation }), conditions };
  }
}

type Status = { readonly conditions?: readonly Condition[] };

/** A resource whose status may carry the conditions that the runtime keeps. */
export type Reporting = KubernetesObject & { readonly status?: Status };

/** What of a controller says how its resources' status is written. */
export interface HowToReport<T> {
  readonly kind: Kind<T & KubernetesObject>;
  readonly status?: 'kstatus' | 'as-planned';
  failed?(resource: T, error: unknown, now: Date): object;
}

export interface ReportTools {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly events: Pick<EventRecorder, 'record'>;
  readonly on: Pick<PassEvents, 'reported' | 'conflicted'>;
}

/** How a resource is doing after a pass: what the plan says, or else what follows from it. */
export function summaryOf({ summary, held, steps }: Pick<Plan<Step, object>, 'summary' | 'held' | 'steps'>): Summary {
  if (summary) return summary;
  if (held.length > 0) return { is: 'reconciling', reason: 'Held', because: held.map(sentenceOf).join('; ') };
  if (steps.length > 0)
    return { is: 'reconciling', because: steps.map((step) => `${step.do}: ${step.because}`).join('; ') };
  return { is: 'ready' };
}

/** The reason while a pass fails and is tried again. */
const FAILED = 'ReconcileFailed';

function summaryOfFailure(error: unknown): Summary {
  // Without the audit id: a text that is new each time would be written each time.
  const because = error instanceof ApiError ? error.explanation : messageOf(error);
  return error instanceof UserMustAct
    ? { is: 'stalled', reason: error.reason, because }
    : { is: 'reconciling', reason: FAILED, because };
}
