import { FACTS } from './facts.gen.ts';

/** What discovery says of a built-in kind. */
export interface KindFacts {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly subresources: readonly SubresourceFacts[];
  /** The name of its schema in the OpenAPI documents: `io.k8s.api.core.v1.Pod`. */
  readonly definition: string;
}

/** An endpoint below an object, and the kind of what is sent there. */
export interface SubresourceFacts {
  readonly name: string;
  readonly verbs: readonly string[];
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

const byKind = new Map(FACTS.map((facts) => [keyOf(facts), facts]));

export function factsOf(gvk: GroupVersionKind): KindFacts | undefined {
  return byKind.get(keyOf(gvk));
}

function keyOf({ group, version, kind }: GroupVersionKind): string {
  return `${group}/${version}/${kind}`;
}
