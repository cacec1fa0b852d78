import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../clock/index.ts';
import type { EventRecorder } from '../events/index.ts';
import { addFinalizer, hasFinalizer, removeFinalizer } from '../finalizers/index.ts';
import { apiVersionOf, type KubernetesObject } from '../kinds/index.ts';
import { messageOf } from '../log.ts';
import type { Act, Controller, World } from './controller.ts';
import type { Outcome } from './outcome.ts';
import { ownerReference } from './owner.ts';
import type { Pace } from './pace.ts';
import type { Plan, Step } from './plan.ts';
import { Report, type Reporting } from './report.ts';

export interface PassTools<W extends World> {
  readonly world: W;
  readonly clock: Clock;
  readonly events: Pick<EventRecorder, 'record'>;
  readonly pace: Pick<Pace, 'afterStepsMs'>;
  readonly on: PassEvents;
  /** The pass before left it to this one to tell the status. */
  readonly isOwed?: boolean;
}

/** Told of what a pass did, for metrics. */
export interface PassEvents {
  /** The status says now what this plan says of the resource, which is here as it was before. */
  reported?(resource: Reporting, plan: Plan<Step, object>): void;
  /** The resource changed while its status was to be written. */
  conflicted?(): void;
  /** A finalizer could not be added or removed. */
  finalizerFailed?(doing: 'add' | 'remove'): void;
  /** Nothing holds the deletion of the resource any more, so long after it was asked for. */
  cleanedUp?(resource: Reporting, plan: Plan<Step, object>, tookMs: number): void;
}

const AWAIT_CHANGE: Outcome = { next: 'await-change' };

const AT_ONCE: Outcome = { next: 'look-again', afterMs: 0, because: 'to see, and to tell, what came of it' };

/** Mostly the change itself comes sooner. */
const OVERTAKEN: Outcome = { next: 'look-again', afterMs: 1_000, because: 'it changed while it was looked at' };

/** One pass over one resource: observe, plan, act, report. A failure on the way is reported too, then thrown. */
export async function pass<T extends KubernetesObject, Observed, S extends Step, W extends World>(
  definition: Controller<T, Observed, S, W>,
  resource: T,
  tools: PassTools<W>,
): Promise<Outcome> {
  const { world, clock, events, on } = tools;
  const { kind, finalizer = '' } = definition;
  const isDeleted = resource.metadata.deletionTimestamp !== undefined;
  if (isDeleted && !definition.seesDeleted && !hasFinalizer(resource, finalizer)) return AWAIT_CHANGE;

  const report = new Report(definition, resource, { cluster: world.cluster, clock, events, on });
  try {
    // Stored before anything is made outside the cluster: a deletion in between would leave that behind for ever.
    if (finalizer !== '' && !isDeleted) {
      const isNeeded = definition.needsFinalizer?.(resource) ?? true;
      const [change, doing] = isNeeded ? ([addFinalizer, 'add'] as const) : ([removeFinalizer, 'remove'] as const);
      const { is } = await change(world.cluster, kind, resource, finalizer).catch(failing(on, doing));
      if (is !== (isNeeded ? 'present' : 'absent')) return AWAIT_CHANGE; // it changed under us, and that change brings us back
    }
    const observed = await definition.observe(resource, world);
    const now = new Date(clock.now());
    const plan = definition.plan(resource, observed, now);

    for (const object of plan.objects) await world.cluster.apply(withOwner(object, resource, definition));
    for (const step of plan.steps) await carryOut(definition, step, world);
    if (isDeleted && plan.isCleanedUp) {
      const removed = await removeFinalizer(world.cluster, kind, resource, finalizer).catch(failing(on, 'remove'));
      // What was gone already had its end in an earlier pass.
      if (removed.is === 'absent' && removed.object) ended(resource, plan, tools);
      return AWAIT_CHANGE;
    }
    if (plan.isInterim && !tools.isOwed) return { ...AT_ONCE, isUntold: true };
    const status = await report.plan(plan);
    if (!status) return OVERTAKEN;
    return settledBy(plan, { ...resource, status }, observed, now, definition, tools) ?? outcomeOf(plan, tools.pace);
  } catch (error) {
    if (!world.signal.aborted) await report.failure(error).catch((cause: unknown) => untold(world, cause));
    throw error;
  }
}

/**
 * A plan is pure, so it can be asked right away what the next pass would decide by what this one told. If that is the same,
 * then our own write is no reason for a pass when it comes back. (A step may change what is observed: after one, it is.)
 */
function settledBy<T extends KubernetesObject, Observed, S extends Step, W extends World>(
  plan: Plan<S, object>,
  resource: T,
  observed: Observed,
  now: Date,
  definition: Controller<T, Observed, S, W>,
  { world, clock, events, pace, on }: PassTools<W>,
): Outcome | undefined {
  if (world.cluster.versionsOf(resource).length === 0 || plan.steps.length > 0) return undefined;
  const next = definition.plan(resource, observed, now);
  const isSame =
    next.steps.length === 0 &&
    next.isCleanedUp === plan.isCleanedUp &&
    isDeepStrictEqual(next.objects, plan.objects) &&
    new Report(definition, resource, { cluster: world.cluster, clock, events, on }).isTold(next);
  return isSame ? { ...outcomeOf(next, pace), isSettled: true } : undefined;
}

/** There is no status any more in which something could be read: what there is to tell of the end is told here. */
function ended<W extends World>(resource: Reporting, plan: Plan<Step, object>, tools: PassTools<W>): void {
  const { clock, events, on } = tools;
  const askedAt = Date.parse(resource.metadata.deletionTimestamp ?? '');
  on.cleanedUp?.(resource, plan, Math.max(0, clock.now() - askedAt));
  for (const event of plan.events ?? []) events.record(resource, event);
}

const failing = (on: PassEvents, doing: 'add' | 'remove') => (error: unknown) => {
  on.finalizerFailed?.(doing);
  throw error;
};

/** What failed first is what the caller has to know; that it could not be reported comes with the next pass. */
function untold({ log }: World, cause: unknown): void {
  log.warn({ error: messageOf(cause) }, 'the failure could not be reported');
}

async function carryOut<T extends KubernetesObject, Observed, S extends Step, W extends World>(
  definition: Controller<T, Observed, S, W>,
  step: S,
  world: W,
): Promise<void> {
  world.signal.throwIfAborted();
  // Its name and its reason alone: what a step carries may hold secrets.
  world.log.info({ step: step.do }, `${step.do}: ${step.because}`);
  const name: S['do'] = step.do;
  const act: Act<Step, W> = definition.steps[name];
  await act(step, world);
  const happening = definition.tells?.(step);
  if (happening) world.tell(happening);
}

/** Objects of an owned kind are the resource's: they go when it goes, and their changes come back to it. */
export function withOwner<T extends KubernetesObject, Observed, S extends Step, W extends World>(
  object: KubernetesObject,
  resource: T,
  { kind, owns = [] }: Controller<T, Observed, S, W>,
): KubernetesObject {
  const isOwned = owns.some((one) => one.kind === object.kind && apiVersionOf(one) === object.apiVersion);
  if (!isOwned) return object;
  const others = object.metadata.ownerReferences ?? [];
  return { ...object, metadata: { ...object.metadata, ownerReferences: [...others, ownerReference(kind, resource)] } };
}

function outcomeOf<S extends Step, Status>(
  { steps, lookAgain }: Plan<S, Status>,
  { afterStepsMs: afterMs }: PassTools<World>['pace'],
): Outcome {
  if (lookAgain) return { next: 'look-again', ...lookAgain };
  // Most steps change something that sends no events; a plan that knows better says when to look.
  const [step] = steps;
  if (step) return { next: 'look-again', afterMs, because: `to see what ${step.do} did` };
  return AWAIT_CHANGE;
}
