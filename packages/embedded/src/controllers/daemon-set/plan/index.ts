import { DaemonSet, type DaemonSetStatus, type Plan, type Pod } from '@polder/kube';
import { claim, isTerminating, nextAvailability } from '../../pods/index.ts';
import { forget, historyOf } from '../../revisions/index.ts';
import { byAge, nodeOf, REVISION_LABEL } from '../daemon.ts';
import { claimOn } from '../eligibility.ts';
import { limitsOf } from '../limits.ts';
import type { Observed } from '../observe.ts';
import { statusOf } from '../status.ts';
import { manage } from './manage.ts';
import type { Place, Scene } from './scene.ts';
import type { DaemonSetStep, Doing } from './step.ts';
import { update } from './update.ts';

export type { DaemonSetStep, DaemonStep } from './step.ts';

/** The most pods that one pass creates or deletes, so that others get their turn. */
const BURST = 250;

/** Every node first has what it should; only then, with nothing left to put right, daemons of old revisions are replaced. */
export function planDaemonSet(set: DaemonSet, observed: Observed, now: Date): Plan<DaemonSetStep, DaemonSetStatus> {
  const { selector = {}, template = {}, minReadySeconds = 0, revisionHistoryLimit = 10 } = set.spec ?? {};
  const claimed = claim(DaemonSet, set, selector, observed);
  const collisionCount = set.status?.collisionCount ?? 0;
  const workload = { kind: DaemonSet, owner: set, template, selector, hashLabel: REVISION_LABEL, collisionCount };
  const history = historyOf(workload, observed.revisions);
  const { places, homeless } = placesOf(set, observed, claimed.pods);
  const wanted = places.filter((place) => place.claim === 'run').length;
  const scene: Scene = {
    set,
    places,
    homeless,
    newest: history.newest,
    limits: limitsOf(set, wanted),
    minReadySeconds,
    waits: observed.waits,
    now,
  };
  const managed = [...manage(scene)];
  const mayUpdate = managed.length === 0 && set.spec?.updateStrategy?.type !== 'OnDelete';
  const status = statusOf(scene);

  const inUse = new Set(claimed.pods.map(({ metadata }) => metadata.labels?.[REVISION_LABEL]));
  const old = history.revisions.filter(({ name }) => name !== history.newest.name);
  const unused = old.filter(({ hash }) => !inUse.has(hash));
  return {
    objects: [],
    steps: [
      ...history.steps,
      ...claimed.steps,
      ...burst(mayUpdate ? update(scene) : managed).map((doing) => ({ ...doing, status })),
      ...forget(unused, old.length - revisionHistoryLimit),
    ],
    held: [],
    status,
    ...lookAgain(scene, claimed.pods),
  };
}

function placesOf(
  set: DaemonSet,
  { nodes }: Observed,
  pods: readonly Pod[],
): { readonly places: readonly Place[]; readonly homeless: readonly Pod[] } {
  // One that has ended and is being deleted is as good as gone.
  const isGone = (pod: Pod) => isTerminating(pod) && ['Failed', 'Succeeded'].includes(pod.status?.phase ?? '');
  const byNode = Map.groupBy(pods.filter((pod) => !isGone(pod)).toSorted(byAge), nodeOf);
  const names = new Set<string | undefined>(nodes.map(({ metadata }) => metadata.name));
  const places = nodes
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
    .map((node) => ({ node, claim: claimOn(node, set), pods: byNode.get(node.metadata.name) ?? [] }));
  const homeless = [...byNode].flatMap(([node, ofNode]) => (node === undefined || names.has(node) ? [] : ofNode));
  return { places, homeless };
}

function burst(doings: readonly Doing[]): readonly Doing[] {
  const created = doings.filter((doing) => doing.do === 'create-pod');
  const others = doings.filter((doing) => doing.do !== 'create-pod');
  return [...created.slice(0, BURST), ...others.slice(0, BURST)];
}

/** No event tells that a wait is over. */
function lookAgain({ waits, minReadySeconds, now }: Scene, pods: readonly Pod[]) {
  const failing = [...waits.values()].map((until) => until - now.getTime()).filter((ms) => ms > 0);
  const availability = nextAvailability(pods, minReadySeconds, now);
  if (failing.length === 0) return availability;
  const afterMs = Math.min(...failing, availability ? availability.lookAgain.afterMs : Infinity);
  return { lookAgain: { afterMs, because: 'a failed pod may be replaced' } };
}
