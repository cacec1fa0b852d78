import { apiVersionOf, type Kind } from '@polder/kube';

/** Finds the kind that a reference to an object means; undefined if nobody serves it. */
export type FindKind<K extends Kind = Kind> = (apiVersion: string, kind: string) => K | undefined;

/** Looks kinds up among those that are served; built anew only when those have changed. */
export function kindFinder<K extends Kind>(served: () => readonly K[]): FindKind<K> {
  let kinds: readonly K[] = [];
  let byName = new Map<string, K>();
  return (apiVersion, kind) => {
    const now = served();
    if (now !== kinds) byName = new Map(now.map((one) => [`${apiVersionOf(one)} ${one.kind}`, one]));
    kinds = now;
    return byName.get(`${apiVersion} ${kind}`);
  };
}
