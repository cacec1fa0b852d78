import type { Clock } from '../clock/index.ts';
import type { Summary } from '../conditions/index.ts';
import type { KubernetesObject } from '../kinds/index.ts';
import type { Controller, World } from './controller.ts';
import { withOwner } from './pass.ts';
import type { Held, Step } from './plan.ts';
import { summaryOf } from './report.ts';

/** What a pass over a resource would do. */
export interface Preview {
  /** As they would be applied, with their owner. */
  readonly objects: readonly KubernetesObject[];
  readonly steps: readonly Step[];
  readonly held: readonly Held[];
  /** How the resource would be doing. */
  readonly summary: Summary;
}

/** The first half of a pass: observe and plan. Nothing is written; what a pass writes is what a plan says. */
export async function preview<T extends KubernetesObject, Observed, S extends Step, W extends World>(
  definition: Controller<T, Observed, S, W>,
  resource: T,
  { world, clock }: { readonly world: W; readonly clock: Clock },
): Promise<Preview> {
  const observed = await definition.observe(resource, world);
  const plan = definition.plan(resource, observed, new Date(clock.now()));
  return {
    objects: plan.objects.map((object) => withOwner(object, resource, definition)),
    steps: plan.steps,
    held: plan.held,
    summary: summaryOf(plan),
  };
}
