import { isDeepStrictEqual } from 'node:util';
import type { KubernetesObject } from '../kinds/index.ts';

/**
 * What we applied last and what the server made of it, for each object: enough to know, without asking, that applying the
 * same again would change nothing. Lost on a restart, which costs one needless (and harmless) apply per object. Whoever
 * hears that an object is gone has to say so with `forget`.
 */
export class LastApplied {
  readonly #byUid = new Map<string, { readonly desired: KubernetesObject; readonly answer: KubernetesObject }>();

  remember(desired: KubernetesObject, answer: KubernetesObject): void {
    if (answer.metadata.uid !== undefined) this.#byUid.set(answer.metadata.uid, { desired, answer });
  }

  forget({ metadata }: KubernetesObject): void {
    this.#byUid.delete(metadata.uid ?? '');
  }

  get size(): number {
    return this.#byUid.size;
  }

  /** Whether `live` still has every field as the server set it when `desired` was applied. */
  isInPlace(desired: KubernetesObject, live: KubernetesObject): boolean {
    const last = this.#byUid.get(live.metadata.uid ?? '');
    if (!last || !isDeepStrictEqual(last.desired, desired)) return false;
    return (
      last.answer.metadata.resourceVersion === live.metadata.resourceVersion || isSameWhere(desired, last.answer, live)
    );
  }
}

/**
 * Whether two states agree in all that `shape` names. The server's own answer is compared, not what we sent: it fills in
 * defaults and rewrites quantities, and `1000m` for `1` is no drift. Lists are compared whole.
 */
function isSameWhere(shape: unknown, a: unknown, b: unknown): boolean {
  if (!isObject(shape) || !isObject(a) || !isObject(b)) return isDeepStrictEqual(a, b);
  return Object.keys(shape).every((key) => isSameWhere(shape[key], a[key], b[key]));
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
