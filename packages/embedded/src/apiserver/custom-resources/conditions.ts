import type { Crd, CrdNames } from '../schema/crd.ts';
import { isObject } from '../schema/index.ts';
import type { WireObject } from '../served-kind.ts';

/** Why the server does not take the names of a definition; undefined if it does. */
export interface NameConflict {
  readonly reason: string;
  readonly message: string;
}

/** Within a group, names belong to the definition that had them first. Pure. */
export function nameConflict({ spec }: Crd, others: readonly Crd[]): NameConflict | undefined {
  const rivals = others.filter((other) => other.spec.group === spec.group).map((other) => other.spec.names ?? {});
  const resources = new Set(
    rivals.flatMap(({ plural, singular, shortNames = [] }) => [plural, singular, ...shortNames]),
  );
  const kinds = new Set(rivals.flatMap(({ kind, listKind }) => [kind, listKind]));
  const { plural, singular, shortNames = [], kind, listKind } = spec.names ?? {};
  const clash = (reason: string, name: string | undefined, taken: ReadonlySet<string | undefined>) =>
    name !== undefined && name !== '' && taken.has(name)
      ? { reason, message: `"${name}" is already in use` }
      : undefined;
  const clashes = [
    clash('PluralConflict', plural, resources),
    clash('SingularConflict', singular, resources),
    ...shortNames.map((name) => clash('ShortNamesConflict', name, resources)),
    clash('KindConflict', kind, kinds),
    clash('ListKindConflict', listKind, kinds),
  ];
  return clashes.find((one) => one !== undefined);
}

/** The definition with the server's verdict on it; the same object if it has that already. */
export function withConditions(
  object: WireObject,
  names: CrdNames,
  conflict: NameConflict | undefined,
  now: string,
): WireObject {
  const status = isObject(object['status']) ? object['status'] : {};
  const before = Array.isArray(status['conditions']) ? status['conditions'] : [];
  const condition = (type: string, isTrue: boolean, reason: string, message: string) => {
    const value = isTrue ? 'True' : 'False';
    const known = before.find((one) => isObject(one) && one['type'] === type);
    const isSame = isObject(known) && known['status'] === value && known['reason'] === reason;
    return isSame ? known : { type, status: value, lastTransitionTime: now, reason, message };
  };
  const conditions = conflict
    ? [
        condition('NamesAccepted', false, conflict.reason, conflict.message),
        condition('Established', false, 'NotAccepted', 'not all names are accepted'),
      ]
    : [
        condition('NamesAccepted', true, 'NoConflicts', 'no conflicts found'),
        condition('Established', true, 'InitialNamesAccepted', 'the initial names have been accepted'),
      ];
  const acceptedNames = conflict ? status['acceptedNames'] : names;
  const isSame = JSON.stringify([before, status['acceptedNames']]) === JSON.stringify([conditions, acceptedNames]);
  return isSame ? object : { ...object, status: { ...status, conditions, acceptedNames } };
}
