/**
 * A cluster that is not the one that was there before. A lone peer whose volume is gone has nobody to join and begins anew,
 * empty, under the same name: the server finds nothing wrong with that, and so nobody would hear of it.
 */
import type { Happening, NewCondition } from '@polder/kube';
import type { Situation } from './situation.ts';
import { volumeAt } from './situation.ts';

const TYPE = 'VolumeLost';

/** Which volume was lost, in the pass that finds it: the next one remembers the new peer. */
function lossIn(situation: Situation): string | undefined {
  const { cluster, sight } = situation;
  const before = cluster.status?.peers ?? [];
  if (!sight.leader || before.length === 0 || before.some(({ id }) => sight.leader?.view.members.has(id)))
    return undefined;
  const [now] = sight.members;
  const lost = before.find(({ pod, volume }) => pod === now?.pod && volume !== volumeAt(situation, now.ordinal));
  return (
    lost &&
    `${lost.pod} was peer ${lost.id} and came back as ${now?.id} with an empty volume: all that the cluster had was on volume ${lost.volume}. If it can be found, suspend the cluster and put it in the place of the new one; if not, restore a backup`
  );
}

/** Told until the spec is changed: whoever does that has seen it. */
export function lossCondition(situation: Situation): readonly NewCondition[] {
  const { generation = 0 } = situation.cluster.metadata;
  const message = lossIn(situation);
  if (message !== undefined) {
    return [{ type: TYPE, status: 'True', reason: 'BeganAnew', message, observedGeneration: generation }];
  }
  const told = situation.cluster.status?.conditions?.find(({ type }) => type === TYPE);
  if (told?.status !== 'True' || told.observedGeneration === generation) return [];
  return [{ type: TYPE, status: 'False', reason: 'SpecChanged', message: '', observedGeneration: generation }];
}

export function newsOfLoss(situation: Situation): readonly Happening[] {
  const note = lossIn(situation);
  return note === undefined ? [] : [{ type: 'Warning', reason: TYPE, action: 'Reconcile', note }];
}
