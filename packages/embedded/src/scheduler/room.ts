import { type Amounts, difference, NOTHING, sum } from './amounts.ts';
import { ANY_ADDRESS, type PodFacts } from './pod-facts.ts';

/** A pod that asks for nothing weighs this much when nodes are compared: else all of them would end on the same one. */
const LEAST_WEIGHT = new Map([
  ['cpu', 100],
  ['memory', 200 * 1024 * 1024],
]);

/** What the pods of a node take up. */
export class Room {
  #pods = 0;
  #requested = NOTHING;
  #weight = NOTHING;
  readonly #ports = new Map<string, readonly string[]>();

  get pods(): number {
    return this.#pods;
  }

  get requested(): Amounts {
    return this.#requested;
  }

  /** The same, with at least a little for each pod. */
  get weight(): Amounts {
    return this.#weight;
  }

  add(pod: PodFacts): void {
    this.#pods += 1;
    this.#requested = sum(this.#requested, pod.requests);
    this.#weight = sum(this.#weight, weightOf(pod));
    for (const { port, address } of pod.ports) this.#ports.set(port, [...(this.#ports.get(port) ?? []), address]);
  }

  remove(pod: PodFacts): void {
    this.#pods -= 1;
    this.#requested = difference(this.#requested, pod.requests);
    this.#weight = difference(this.#weight, weightOf(pod));
    for (const { port, address } of pod.ports) {
      const taken = this.#ports.get(port) ?? [];
      this.#ports.set(port, taken.toSpliced(taken.indexOf(address), 1));
    }
  }

  /** A port on every address collides with the same port on any. */
  isTaken({ port, address }: PodFacts['ports'][number]): boolean {
    const taken = this.#ports.get(port) ?? [];
    return taken.some((one) => one === address || one === ANY_ADDRESS || address === ANY_ADDRESS);
  }
}

export function weightOf({ requests }: PodFacts): Amounts {
  return new Map([...LEAST_WEIGHT].map(([name, least]) => [name, requests.get(name) || least]));
}
