import type { PersistentVolumeClaim } from '@polder/kube';
import { claimName, isLeftOver, newClaim, ownersOf } from '../claims.ts';
import type { Member } from '../members.ts';
import type { Scene } from './scene.ts';
import type { Claims, Doing } from './step.ts';

/** A claim of a member: what it is called, what it should be, what is there. */
interface Slot {
  readonly name: string;
  readonly template: PersistentVolumeClaim;
  readonly claim: PersistentVolumeClaim | undefined;
}

function slotsOf({ set, wanted, claims }: Scene, { ordinal }: Member): readonly Slot[] {
  return wanted.claimTemplates.map((template) => {
    const name = claimName(set, template, ordinal);
    return { name, template, claim: claims.get(name) };
  });
}

export function claimsOf(scene: Scene, member: Member): Claims {
  const slots = slotsOf(scene, member);
  return {
    missing: slots
      .filter(({ claim }) => claim === undefined)
      .map(({ template }) => newClaim(scene.set, template, member.ordinal)),
    leaving: slots.filter(({ claim }) => claim?.metadata.deletionTimestamp !== undefined).map(({ name }) => name),
  };
}

/** Claims of an earlier pod of this name are about to be deleted with it. */
export function hasLeftOvers(scene: Scene, member: Member): boolean {
  return slotsOf(scene, member).some(({ claim }) => claim && isLeftOver(claim, scene.set, identityOf(member)));
}

/** Claims go when the set, or a surplus member, goes: garbage collection sees to it, by their owner references. */
export function* ownClaims(scene: Scene, member: Member, isCondemned: boolean): Generator<Doing, void> {
  for (const { name, claim } of slotsOf(scene, member)) {
    const owners = claim && ownersOf(claim, scene.set, identityOf(member), isCondemned);
    if (!owners) continue;
    const because =
      owners.length > 0 ? `${owners.at(-1)?.kind} ${owners.at(-1)?.name} takes ${name} along` : `${name} stays`;
    yield { do: 'own-claim', because, claim, owners };
  }
}

/** A pod that is yet to be made has a name already. */
const identityOf = ({ name, pod }: Member) => pod ?? { metadata: { name } };
