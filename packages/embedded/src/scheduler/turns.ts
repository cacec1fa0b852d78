import type { Pod } from '@polder/kube';

export const priorityOf = ({ spec }: Pod) => spec?.priority ?? 0;

/** Which pods a decision is due for. The queue knows no priorities: a pod whose turn it is not comes back a little later. */
export class Turns {
  readonly #due = new Map<string, number>();
  readonly #byPriority = new Map<number, number>();

  add(pods: Iterable<Pod>): void {
    for (const pod of pods) {
      this.drop(pod);
      const priority = priorityOf(pod);
      this.#due.set(pod.metadata.uid ?? '', priority);
      this.#byPriority.set(priority, (this.#byPriority.get(priority) ?? 0) + 1);
    }
  }

  drop({ metadata }: Pod): void {
    const priority = this.#due.get(metadata.uid ?? '');
    if (priority === undefined) return;
    this.#due.delete(metadata.uid ?? '');
    const left = (this.#byPriority.get(priority) ?? 0) - 1;
    if (left > 0) this.#byPriority.set(priority, left);
    else this.#byPriority.delete(priority);
  }

  isDue({ metadata }: Pod): boolean {
    return this.#due.has(metadata.uid ?? '');
  }

  /** False if a more important pod is due. */
  take(pod: Pod): boolean {
    if (this.#byPriority.keys().some((priority) => priority > priorityOf(pod))) return false;
    this.drop(pod);
    return true;
  }
}
