import type { Happening, NewCondition } from '@polder/kube';
import type { QdrantCollection } from '../../kinds/index.ts';
import type { Former } from '../observe.ts';
import type { Situation } from './situation.ts';

/**
 * Collections of this name in clusters that the spec named before. They have points that nobody asked to be deleted, and
 * nobody looks after them: that is told until they are gone, or the spec names their cluster again. What is not known to be
 * gone is there.
 */
export const leftBehind = ({ observed: { former } }: Situation): readonly Former[] =>
  former.filter(({ isThere }) => !isThere.known || isThere.value);

export const leftBehindStatus = (left: readonly Former[]) =>
  left.length > 0 ? { leftBehind: left.map(({ cluster, clusterUID }) => ({ cluster, clusterUID })) } : {};

export function leftBehindCondition({ metadata, spec }: QdrantCollection, left: readonly Former[]): NewCondition {
  const type = 'LeftBehind';
  if (left.length === 0) return { type, status: 'False', reason: 'Nothing', message: '' };
  const message = `${left.map((one) => sentence(metadata.name, one)).join('; ')}. Set spec.cluster back from ${spec.cluster}, or delete it there once its points are not needed: DELETE /collections/${metadata.name}`;
  return { type, status: 'True', reason: 'ClusterChanged', message };
}

/** Told once for each when it is noticed, and once more when nobody is left to remember it. */
export function leavings({ metadata, status }: QdrantCollection, left: readonly Former[]): readonly Happening[] {
  const isNews = ({ clusterUID }: Former) =>
    metadata.deletionTimestamp !== undefined || !status?.leftBehind?.some((one) => one.clusterUID === clusterUID);
  return left.filter(isNews).map((one) => ({
    type: 'Warning',
    reason: 'LeftBehind',
    action: 'Leave',
    note: `${sentence(metadata.name, one)}; it is not deleted`,
  }));
}

const sentence = (name: string, { cluster }: Former) =>
  `collection ${name} of QdrantCluster ${cluster} is not looked after any more`;
