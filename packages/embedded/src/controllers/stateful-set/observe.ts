import { ControllerRevision, PersistentVolumeClaim, Pod, type StatefulSet, type World } from '@polder/kube';
import type { Revisions } from '../revisions/index.ts';
import { claimName } from './claims.ts';
import { ordinalOf } from './identity.ts';
import { wantedOf } from './wanted.ts';

export interface Observed {
  readonly owned: readonly Pod[];
  readonly unowned: readonly Pod[];
  readonly revisions: Revisions;
  /** Those that members have or should have, by name. */
  readonly claims: ReadonlyMap<string, PersistentVolumeClaim>;
}

export async function observe(set: StatefulSet, { cluster }: World): Promise<Observed> {
  const { namespace } = set.metadata;
  const pods = { owned: await cluster.owned(Pod, set), unowned: await cluster.unowned(Pod, namespace) };
  const { replicas, start, claimTemplates } = wantedOf(set);
  const members = Array.from({ length: replicas }, (_, at) => start + at);
  const others = [...pods.owned, ...pods.unowned].flatMap((pod) => ordinalOf(set, pod) ?? []);
  const claims = new Map<string, PersistentVolumeClaim>();
  for (const template of claimTemplates) {
    for (const ordinal of new Set([...members, ...others])) {
      const name = claimName(set, template, ordinal);
      const claim = await cluster.get(PersistentVolumeClaim, { namespace, name });
      if (claim) claims.set(name, claim);
    }
  }
  const revisions = {
    owned: await cluster.owned(ControllerRevision, set),
    unowned: await cluster.unowned(ControllerRevision, namespace),
  };
  return { ...pods, revisions, claims };
}
