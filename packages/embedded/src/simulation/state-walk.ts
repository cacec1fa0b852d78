import { isDeepStrictEqual } from 'node:util';
import { type Client, isInvalid, type Kind, type KubernetesObject } from '@polder/kube';
import { simulate } from './simulate.ts';
import type { State } from './state.ts';
import type { IsConverged, Scenario, World } from './world.ts';

export interface StateWalkOptions<W extends World, Spec> {
  readonly world: () => W;
  /** The specs in the order in which a user comes to want them; made from an arbitrary, so that a failure shrinks. */
  readonly specs: readonly Spec[];
  /** Makes the resource so. What the server refuses as invalid changes nothing, and the walk goes on. */
  apply(client: Client, spec: Spec): Promise<unknown>;
  readonly isConverged: IsConverged<W>;
  /** The kinds whose objects are compared. */
  readonly kinds: readonly Kind[];
  /** What of an object is compared; all of it unless told otherwise. */
  readonly view?: (object: KubernetesObject) => unknown;
  readonly seed?: number;
}

/**
 * Walks a resource through specs, faster than anyone could follow here and there, and compares the end with that of a world
 * that has only ever seen the last spec (that was not refused): where it came from must not matter.
 */
export async function stateWalk<W extends World, Spec>(options: StateWalkOptions<W, Spec>): Promise<void> {
  const { specs } = options;
  const accepted: Spec[] = [];
  const step = (spec: Spec) => async (client: Client) => {
    try {
      await options.apply(client, spec);
      accepted.push(spec);
    } catch (error) {
      if (!isInvalid(error)) throw error;
    }
  };
  const walked = await ending(options, specs.map(step));
  const last = accepted.at(-1);
  if (last === undefined) return;
  const direct = await ending(options, [(client) => options.apply(client, last)]);
  if (isDeepStrictEqual(walked, direct)) return;
  const [came, went] = [walked, direct].map((end) => JSON.stringify(end, undefined, 2));
  throw new Error(
    `the end depends on the way: after ${JSON.stringify(specs)} it is\n${came}\nand straight to the last\n${went}`,
  );
}

async function ending<W extends World, Spec>(
  { world, isConverged, kinds, view, seed = 1 }: StateWalkOptions<W, Spec>,
  scenario: Scenario,
): Promise<readonly unknown[]> {
  const limitMs = LIMIT_MS;
  const simulation = await simulate({ seed, world, scenario, until: isConverged, faults: [], limitMs });
  simulation.end();
  return kinds.flatMap((kind) => normalised(simulation.state, kind, view));
}

/** Room for pauses of up to some minutes and for the end of a backoff. */
const LIMIT_MS = 1_800_000;

/** What a server and the course of time add: no two objects share it, however alike they are. */
const INCIDENTAL = [
  'uid',
  'resourceVersion',
  'generation',
  'observedGeneration',
  'creationTimestamp',
  'managedFields',
  'lastTransitionTime',
  'lastUpdateTime',
  // How often the template of a workload changed.
  'deployment.kubernetes.io/revision',
];

/** The objects of a kind without what is incidental, in the order of their names. */
export function normalised(
  state: State,
  kind: Kind,
  view: (object: KubernetesObject) => unknown = (object) => object,
): readonly unknown[] {
  const byName = (a: KubernetesObject, b: KubernetesObject) => (a.metadata.name < b.metadata.name ? -1 : 1);
  return state
    .list(kind)
    .toSorted(byName)
    .map((object): unknown =>
      JSON.parse(JSON.stringify(view(object), (key, value: unknown) => (INCIDENTAL.includes(key) ? undefined : value))),
    );
}
