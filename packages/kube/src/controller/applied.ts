import { isDeepStrictEqual } from 'node:util';
import { slim } from '../client/index.ts';
import type { KubernetesObject } from '../kinds/index.ts';
import { ownsExactly } from './owned-fields.ts';

/**
 * Knows, without asking, that applying the same again would change nothing.
 *
 * - **How?** The live object has every field as we would send it, and by its managed fields these, and no others, are the ones
 *   that we applied. A field that we no longer want is then among those that we own; and one that others changed is not,
 *   even where the change is an addition to a list. So it needs no memory: an operator that starts finds its work done.
 * - **What if the server stores something else?** It rewrites quantities (`1000m` is `1`), and webhooks add containers. Then its
 *   answer is remembered, and compared in all that we sent. After a restart this costs one needless, and harmless, apply.
 *
 * Whoever hears that an object is gone has to say so with `forget`.
 */
export class LastApplied {
  readonly #manager: string;
  readonly #rewritten = new Map<string, { readonly desired: KubernetesObject; readonly answer: KubernetesObject }>();

  constructor(manager: string) {
    this.#manager = manager;
  }

  /** `answer` is whole, with its managed fields. */
  remember(desired: KubernetesObject, answer: KubernetesObject): void {
    const { uid } = answer.metadata;
    if (uid === undefined) return;
    if (this.#isEvident(desired, answer)) this.#rewritten.delete(uid);
    else this.#rewritten.set(uid, { desired, answer: slim(answer) });
  }

  forget({ metadata }: KubernetesObject): void {
    this.#rewritten.delete(metadata.uid ?? '');
  }

  get size(): number {
    return this.#rewritten.size;
  }

  /** Whether `live` has every field as the server sets it when `desired` is applied. */
  isInPlace(desired: KubernetesObject, live: KubernetesObject): boolean {
    if (this.#isEvident(desired, live)) return true;
    const last = this.#rewritten.get(live.metadata.uid ?? '');
    return last !== undefined && isDeepStrictEqual(last.desired, desired) && isSameWhere(desired, last.answer, live);
  }

  #isEvident(desired: KubernetesObject, live: KubernetesObject): boolean {
    const entry = live.metadata.managedFields?.find(
      ({ manager, operation, apiVersion, subresource }) =>
        manager === this.#manager &&
        operation === 'Apply' &&
        apiVersion === desired.apiVersion &&
        subresource === undefined,
    );
    return entry?.fieldsV1 !== undefined && has(live, desired) && ownsExactly(entry.fieldsV1, desired);
  }
}

/** Whether a state has all that is wanted. It may have more fields, also in the items of a list, but no more items. */
function has(state: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) {
    if (!Array.isArray(state) || state.length !== wanted.length) return false;
    return wanted.every((item, index) => has(state[index], item));
  }
  if (!isObject(wanted)) return state === wanted;
  if (!isObject(state)) return false;
  for (const name in wanted) if (wanted[name] !== undefined && !has(state[name], wanted[name])) return false;
  return true;
}

/** Whether two states agree in all that `shape` names. Lists are compared whole. */
function isSameWhere(shape: unknown, a: unknown, b: unknown): boolean {
  if (!isObject(shape) || !isObject(a) || !isObject(b)) return isDeepStrictEqual(a, b);
  return Object.keys(shape).every((key) => isSameWhere(shape[key], a[key], b[key]));
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
