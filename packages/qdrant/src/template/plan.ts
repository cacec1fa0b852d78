import type { Plan, StatusOf } from '@polder/kube';
import type { QdrantCollectionTemplate } from '../kinds/index.ts';
import { NO_TEMPLATE } from './names.ts';
import type { Observed } from './observe.ts';
import { problemOf } from './problem.ts';

export type TemplatePlan = Plan<never, StatusOf<QdrantCollectionTemplate>>;

/** A template does nothing: it is told how often it was used, and what is wrong with it. */
export function planTemplate(template: QdrantCollectionTemplate, observed: Observed): TemplatePlan {
  // The label of collections without a template is no use of one that has this name.
  const collections = template.metadata.name === NO_TEMPLATE ? [] : observed.collections;
  const problem = problemOf(template);
  const lastUsed = lastOf([
    template.status?.lastUsed,
    ...collections.map(({ metadata }) => metadata.creationTimestamp),
  ]);
  return {
    objects: [],
    steps: [],
    held: [],
    status: { usageCount: collections.length, ...(lastUsed !== undefined && { lastUsed }) },
    summary: problem ? { is: 'stalled', ...problem } : { is: 'ready' },
  };
}

/** What was used once was used: a collection that goes does not take its time along. */
function lastOf(times: readonly (string | undefined)[]): string | undefined {
  const known = times.filter((time) => time !== undefined);
  return known.toSorted((one, other) => Date.parse(one) - Date.parse(other)).at(-1);
}
