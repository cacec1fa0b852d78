import type { Node, Pod } from '@polder/kube';
import type { AffinityTerm, Labels } from './affinity-term.ts';
import { type Amounts, amountsOf } from './amounts.ts';
import { type PodFacts, podFacts } from './pod-facts.ts';
import { type PodState, stateOf } from './pod-state.ts';
import { Room } from './room.ts';
import { priorityOf, Turns } from './turns.ts';

export interface NodeFacts {
  readonly node: Node;
  readonly name: string;
  readonly labels: Labels;
  readonly allocatable: Amounts;
  readonly room: Room;
}

/** How many pods there are on each node, by the node's name. */
export type Counts = ReadonlyMap<string, number>;

/** Pods to be counted. Questions with the same key must have the same answer. */
export interface Question {
  readonly key: string;
  isAbout(pod: PodFacts): boolean;
}

/** A term of pods that have a node, which concerns those that come after them. */
export interface Wish {
  readonly term: AffinityTerm;
  readonly weight: number;
  readonly byNode: Counts;
}

/** What a newer picture of the pods may mean for one that found no place. */
export interface News {
  /** A pod left its node or changed there. */
  readonly isRoomier: boolean;
  /** A pod got a node: room for those that want to be near it. */
  readonly isFuller: boolean;
}

/** This many answers are kept up with every change; what was not asked for the longest time is counted anew when it is. */
const KEPT_ANSWERS = 64;

/**
 * What is where: kept up by difference, so that a decision costs what changed since the last one and not what there is.
 * Pods of the same workload have the same terms and ask the same questions: wishes and answers are grouped by them.
 */
export class Occupancy {
  #nodes = new Map<string, NodeFacts>();
  readonly #rooms = new Map<string, Room>();
  readonly #pods = new Map<string, Known>();
  /** The pods of the last picture, in its order. */
  #last: readonly Pod[] = [];
  readonly #answers = new Map<string, { readonly question: Question; readonly byNode: Map<string, number> }>();
  readonly #apart = new Map<string, Wish & { readonly byNode: Map<string, number> }>();
  readonly #preferred = new Map<string, Wish & { readonly byNode: Map<string, number> }>();
  readonly #waiting = new Map<string, Pod>();
  readonly #turns = new Turns();

  /** A picture from scratch. */
  static of(nodes: readonly Node[], pods: readonly Pod[]): Occupancy {
    const occupancy = new Occupancy();
    occupancy.updateNodes(nodes);
    occupancy.updatePods(pods);
    return occupancy;
  }

  get nodes(): readonly NodeFacts[] {
    return [...this.#nodes.values()];
  }

  get isAnyoneWaiting(): boolean {
    return this.#waiting.size > 0;
  }

  /** Pods that have no node yet; the most important first. */
  get waiting(): readonly Pod[] {
    return byPriority([...this.#waiting.values()]);
  }

  /** Those of them that were decided on and refused, or wait for their claims. */
  get decided(): readonly Pod[] {
    return byPriority([...this.#waiting.values()].filter((pod) => !this.#turns.isDue(pod)));
  }

  /** Terms of pods here that keep others away. */
  get apart(): Iterable<Wish> {
    return this.#apart.values();
  }

  /** Terms of pods here that draw others near, or (with a negative weight) would rather not have them near. */
  get preferred(): Iterable<Wish> {
    return this.#preferred.values();
  }

  /** A pod gets its turn, unless a more important one has not had its own since there was news for it. */
  takeTurn(pod: Pod): boolean {
    return this.#turns.take(pod);
  }

  updateNodes(nodes: readonly Node[]): void {
    const before = this.#nodes;
    this.#nodes = new Map();
    for (const node of nodes) {
      const { name } = node.metadata;
      const known = before.get(name);
      this.#nodes.set(name, known?.node === node ? known : this.#nodeFacts(node));
      if (known?.node !== node) this.#turns.add(this.#waiting.values());
    }
  }

  /** Whether this state of a pod, or its end, could make a difference on a node. */
  isNews(pod: Pod): boolean {
    const known = this.#pods.get(pod.metadata.uid ?? '');
    if (known?.pod === pod) return false;
    return known?.state.is === 'placed' || stateOf(pod) === 'placed';
  }

  /** Objects that are the same as the last time are skipped: they are never changed, only replaced. */
  updatePods(pods: readonly Pod[]): News {
    let isRoomier = false;
    let isFuller = false;
    const before = this.#last;
    this.#last = pods;
    for (const [i, pod] of pods.entries()) {
      // A store keeps its order: nearly all stand where they stood, and looking them up is what would take time.
      if (before[i] === pod) continue;
      const known = this.#pods.get(pod.metadata.uid ?? '');
      if (known?.pod === pod) continue;
      const isSame = known !== undefined && isAlike(known.pod, pod);
      if (known && !isSame) this.#forget(known);
      const now = isSame ? { ...known, pod } : this.#learn(pod);
      this.#pods.set(pod.metadata.uid ?? '', now);
      const wasPlaced = known?.state.is === 'placed';
      const isPlaced = now.state.is === 'placed';
      if (!isSame && wasPlaced) isRoomier = true;
      if (!isSame && isPlaced && !wasPlaced) isFuller = true;
    }
    if (this.#pods.size > pods.length) isRoomier = this.#sweep(pods) || isRoomier;
    if (isRoomier) this.#turns.add(this.#waiting.values());
    return { isRoomier, isFuller };
  }

  /** Counts the pods on nodes that a question is about. */
  count(question: Question): Counts {
    const kept = this.#answers.get(question.key) ?? this.#answer(question);
    // The last asked is the last to be dropped.
    this.#answers.delete(question.key);
    this.#answers.set(question.key, kept);
    const [oldest] = this.#answers.keys();
    if (this.#answers.size > KEPT_ANSWERS && oldest !== undefined) this.#answers.delete(oldest);
    return kept.byNode;
  }

  #answer(question: Question) {
    const byNode = new Map<string, number>();
    for (const { state } of this.#pods.values()) {
      if (state.is === 'placed' && question.isAbout(state.facts)) add(byNode, state.node, 1);
    }
    return { question, byNode };
  }

  #nodeFacts(node: Node): NodeFacts {
    const { name, labels = {} } = node.metadata;
    return { node, name, labels, allocatable: amountsOf(node.status?.allocatable), room: this.#roomOf(name) };
  }

  /** A pod may be on a node that is not known yet, or no longer. */
  #roomOf(node: string): Room {
    const room = this.#rooms.get(node) ?? new Room();
    this.#rooms.set(node, room);
    return room;
  }

  #learn(pod: Pod): Known {
    const is = stateOf(pod);
    if (is !== 'placed') {
      if (is === 'waiting') {
        this.#waiting.set(pod.metadata.uid ?? '', pod);
        this.#turns.add([pod]);
      }
      return { pod, state: { is } };
    }
    const state = { is, node: pod.spec?.nodeName ?? '', facts: podFacts(pod) };
    this.#roomOf(state.node).add(state.facts);
    this.#count(state, 1);
    return { pod, state };
  }

  #forget({ pod, state }: Known): void {
    this.#waiting.delete(pod.metadata.uid ?? '');
    this.#turns.drop(pod);
    if (state.is !== 'placed') return;
    this.#roomOf(state.node).remove(state.facts);
    this.#count(state, -1);
  }

  #sweep(pods: readonly Pod[]): boolean {
    const present = new Set(pods.map(({ metadata }) => metadata.uid ?? ''));
    let isRoomier = false;
    for (const [uid, known] of this.#pods) {
      if (present.has(uid)) continue;
      this.#forget(known);
      this.#pods.delete(uid);
      if (known.state.is === 'placed') isRoomier = true;
    }
    return isRoomier;
  }

  #count({ node, facts }: Placed, by: 1 | -1): void {
    for (const { question, byNode } of this.#answers.values()) if (question.isAbout(facts)) add(byNode, node, by);
    for (const term of facts.apart) wish(this.#apart, term, -1, node, by);
    for (const term of facts.near) wish(this.#preferred, term, REQUIRED_WEIGHT, node, by);
    for (const { term, weight } of facts.preferred) wish(this.#preferred, term, weight, node, by);
  }
}

/** Who must be near others is worth this much to them: a newcomer that they could need had better come near. */
const REQUIRED_WEIGHT = 1;

interface Placed {
  readonly is: 'placed';
  readonly node: string;
  readonly facts: PodFacts;
}

interface Known {
  readonly pod: Pod;
  readonly state: Placed | { readonly is: Exclude<PodState, 'placed'> };
}

const byPriority = (pods: readonly Pod[]) => pods.toSorted((a, b) => priorityOf(b) - priorityOf(a));

/** Whether two states of a pod are the same to a scheduler. (The store shares between versions what did not change.) */
function isAlike(a: Pod, b: Pod): boolean {
  return (
    a.spec === b.spec &&
    a.metadata.labels === b.metadata.labels &&
    a.metadata.ownerReferences === b.metadata.ownerReferences &&
    a.metadata.deletionTimestamp === b.metadata.deletionTimestamp &&
    stateOf(a) === stateOf(b)
  );
}

function wish(
  wishes: Map<string, Wish & { readonly byNode: Map<string, number> }>,
  term: AffinityTerm,
  weight: number,
  node: string,
  by: 1 | -1,
): void {
  const key = `${weight} ${term.key}`;
  const known = wishes.get(key) ?? { term, weight, byNode: new Map<string, number>() };
  add(known.byNode, node, by);
  if (known.byNode.size > 0) wishes.set(key, known);
  else wishes.delete(key);
}

function add(counts: Map<string, number>, key: string, by: number): void {
  const count = (counts.get(key) ?? 0) + by;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
