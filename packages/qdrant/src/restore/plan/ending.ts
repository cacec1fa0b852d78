import type { Plan } from '@polder/kube';
import { isForced, letGo } from '../../cleanup.ts';
import type { Settings } from '../../settings.ts';
import { dropping } from './next.ts';
import type { RestoreStatus, Situation } from './situation.ts';
import type { RestoreStep } from './step.ts';

/** A restore that is deleted leaves the collection as it is by then. Its temporary collection goes with it. */
export function ending(situation: Situation, settings: Settings): Plan<RestoreStep, RestoreStatus> {
  const { restore } = situation;
  const { status = {} } = restore;
  const { temporary } = status;
  const next = temporary && dropping(situation, status);
  const isGivenUp = next?.is !== 'records' && isForced(restore, settings);
  const left = isGivenUp && temporary ? [letGo(restore, `collection ${temporary.collection}`)] : [];
  return {
    objects: [],
    steps: next?.is === 'does' && !isGivenUp ? [next.step] : [],
    held: [],
    status,
    summary: {
      is: 'reconciling',
      reason: 'Deleting',
      because: next?.is === 'waits' ? next.because : 'its temporary collection is deleted',
    },
    events: left,
    // A step that fails ends the pass before it comes to that.
    isCleanedUp: isGivenUp || next?.is !== 'waits',
    lookAgain: { afterMs: settings.intervals.progressMs, because: 'the temporary collection has to be deleted first' },
  };
}
