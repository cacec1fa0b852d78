import type { ServedKind } from '../served-kind.ts';

/** The versions of one API group, best first, with their kinds. */
export interface Group {
  /** Empty for the core group. */
  readonly name: string;
  readonly versions: readonly GroupVersion[];
}

export interface GroupVersion {
  readonly version: string;
  readonly kinds: readonly ServedKind[];
}

/** Groups in the order of their first kind; what CRDs bring comes after the built-in ones, by name. */
export function groupsOf(kinds: readonly ServedKind[]): readonly Group[] {
  const byGroup = Map.groupBy(kinds, ({ group }) => group);
  const entries = [...byGroup];
  return [
    ...entries.filter((entry) => !isCustom(entry)),
    ...entries.filter(isCustom).toSorted(([a], [b]) => (a < b ? -1 : 1)),
  ].map(([name, members]) => ({
    name,
    versions: [...Map.groupBy(members, ({ version }) => version)]
      .toSorted(([a], [b]) => compareVersions(a, b))
      .map(([version, members]) => ({ version, kinds: members.toSorted((a, b) => (a.plural < b.plural ? -1 : 1)) })),
  }));
}

const isCustom = ([, [first]]: readonly [string, readonly ServedKind[]]) => first?.origin === 'custom';

export const groupVersionOf = (group: string, version: string) => (group === '' ? version : `${group}/${version}`);

/**
 * `v2, v1, v1beta2, v1beta1, v1alpha1, other`: stable before beta before alpha, high before low, and names that are no
 * Kubernetes versions at the end in their own order. The first one is the preferred version of its group.
 */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [parse(a), parse(b)];
  if (!left || !right) return left ? -1 : right ? 1 : a < b ? -1 : a > b ? 1 : 0;
  return right.stage - left.stage || right.major - left.major || right.minor - left.minor;
}

function parse(version: string) {
  const match = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version);
  if (!match) return undefined;
  const stage = match[2] === undefined ? 2 : match[2] === 'beta' ? 1 : 0;
  return { stage, major: Number(match[1]), minor: Number(match[3] ?? 0) };
}
