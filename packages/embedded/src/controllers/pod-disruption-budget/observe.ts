import { type Known, known, messageOf, Pod, type PodDisruptionBudget, unknown } from '@polder/kube';
import { structuredLabelSelector } from '../../apiserver/selectors/index.ts';
import { type DisruptionWorld, type ExpectedScale, expectedScale } from './scale.ts';

export interface Observed {
  readonly pods: readonly Pod[];
  /** Undefined if the budget does not depend on it. */
  readonly scale: Known<ExpectedScale> | undefined;
}

/** A budget without a selector guards nobody; an empty one guards everybody. */
export function selects({ spec }: PodDisruptionBudget, { metadata }: Pod): boolean {
  return spec?.selector !== undefined && structuredLabelSelector(spec.selector)(metadata.labels ?? {});
}

export async function observe(budget: PodDisruptionBudget, world: DisruptionWorld): Promise<Observed> {
  const all = await world.cluster.list(Pod, budget.metadata.namespace);
  const pods = all.filter((pod) => selects(budget, pod));
  const { maxUnavailable, minAvailable } = budget.spec ?? {};
  if (maxUnavailable === undefined && typeof minAvailable !== 'string') return { pods, scale: undefined };
  try {
    return { pods, scale: known(await expectedScale(pods, world)) };
  } catch (error) {
    world.signal.throwIfAborted();
    return { pods, scale: unknown(messageOf(error)) };
  }
}
