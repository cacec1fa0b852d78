import type { Clock } from '../clock/index.ts';
import {
  type Condition,
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
import type { Held, Plan, Step } from './plan.ts';

/** Writes what a pass found and did into the resource's status: once, and only if it says something new. */
export class Report<T extends Reporting> {
  readonly #kind: Kind<T>;
  readonly #resource: T;
  readonly #isKstatus: boolean;
  readonly #tools: ReportTools;

  constructor(kind: Kind<T>, resource: T, isKstatus: boolean, tools: ReportTools) {
    this.#kind = kind;
    this.#resource = resource;
    this.#isKstatus = isKstatus;
    this.#tools = tools;
  }

  async plan<S extends Step>(plan: Plan<S, object>): Promise<void> {
    const status = this.#isKstatus ? this.#judged(plan.status, summaryOf(plan), plan.conditions ?? []) : plan.status;
    await this.#write(status, plan.events ?? []);
  }

  /** What was known before stays; how the resource is doing is news. */
  async failure(error: unknown): Promise<void> {
    if (!this.#isKstatus) return;
    const summary = summaryOfFailure(error);
    const status = this.#judged(this.#resource.status ?? {}, summary, []);
    const reason = summary.is === 'stalled' ? summary.reason : 'ReconcileFailed';
    await this.#write(status, [{ type: 'Warning', reason, action: 'Reconcile', note: messageOf(error) }]);
  }

  async #write(status: object, events: readonly Happening[]): Promise<void> {
    if (sameStatus(this.#resource.status ?? {}, status)) return;
    await this.#tools.cluster.applyStatus(this.#kind, this.#resource, status);
    for (const event of events) this.#tools.events.record(this.#resource, event);
  }

  #judged(status: object, summary: Summary, extra: readonly NewCondition[]): object {
    const { generation } = this.#resource.metadata;
    const now = this.#tools.clock.now();
    let conditions = summarize(this.#resource.status?.conditions ?? [], summary, generation, now);
    for (const one of extra) conditions = setCondition(conditions, one, now);
    return { ...status, ...(generation !== undefined && { observedGeneration: generation }), conditions };
  }
}

/** A resource whose status may carry the conditions that the runtime keeps. */
export type Reporting = KubernetesObject & { readonly status?: { readonly conditions?: readonly Condition[] } };

export interface ReportTools {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly events: Pick<EventRecorder, 'record'>;
}

/** How a resource is doing after a pass: what the plan says, or else what follows from it. */
export function summaryOf({ summary, held, steps }: Pick<Plan<Step, object>, 'summary' | 'held' | 'steps'>): Summary {
  if (summary) return summary;
  if (held.length > 0) return { is: 'reconciling', reason: 'Held', because: held.map(sentence).join('; ') };
  if (steps.length > 0)
    return { is: 'reconciling', because: steps.map((step) => `${step.do}: ${step.because}`).join('; ') };
  return { is: 'ready' };
}

/** `remove-peer is held by a-peer-leaves-empty: b still holds 2 replicas`. */
export function sentence({ step, rule, because }: Held): string {
  return `${step.do} is held by ${rule}: ${because}`;
}

function summaryOfFailure(error: unknown): Summary {
  const because = messageOf(error);
  return error instanceof UserMustAct
    ? { is: 'stalled', reason: error.reason, because }
    : { is: 'reconciling', reason: 'ReconcileFailed', because };
}
