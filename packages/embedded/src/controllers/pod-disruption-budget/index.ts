import { controller, Pod, PodDisruptionBudget, watch } from '@polder/kube';
import { observe, selects } from './observe.ts';
import { type BudgetStep, planBudget } from './plan.ts';
import type { DisruptionWorld } from './scale.ts';

/** Keeps count of how many pods may be evicted; the API server asks with every eviction. */
export const podDisruptionBudgets = controller({
  kind: PodDisruptionBudget,
  reportsAs: 'controllermanager',
  watches: [
    watch(Pod, (pod, cached) => {
      const budgets = cached.list(PodDisruptionBudget, pod.metadata.namespace);
      return budgets.filter((budget) => selects(budget, pod)).map(({ metadata }) => metadata);
    }),
  ],
  observe,
  plan: planBudget,
  steps: { 'write-status': writeStatus },
  status: 'as-planned',
});

async function writeStatus({ budget, status, events }: BudgetStep, world: DisruptionWorld): Promise<void> {
  const { client, signal, tell } = world;
  await client.update(PodDisruptionBudget, { ...budget, status }, { subresource: 'status', signal });
  for (const event of events) tell(event);
}
