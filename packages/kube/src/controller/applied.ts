import { isDeepStrictEqual } from 'node:util';
import { type KubernetesObject, keyOf } from '../kinds/index.ts';

/**
 * What we applied last and what the server made of it, for each object: enough to know, without asking, that applying the
 * same again would change nothing; and to know when somebody else has changed what is ours. Lost on a restart, which costs
 * one needless (and harmless) apply per object. Whoever hears that an object is gone has to say so with `forget`.
 */
export class LastApplied {
  readonly #byUid = new Map<string, Applied>();
  /** Objects that went without our doing: whose they were, by their names. */
  readonly #gone = new Map<string, string>();

  remember(desired: KubernetesObject, answer: KubernetesObject): void {
    this.#gone.delete(nameOf(answer));
    const { uid } = answer.metadata;
    if (uid !== undefined) this.#byUid.set(uid, { desired, answer, left: answer, isOurEnd: false });
  }

  /** We wrote it by other means than applying it. */
  wrote(object: KubernetesObject): void {
    const last = this.#byUid.get(object.metadata.uid ?? '');
    if (last) last.left = object;
  }

  /** We asked for its deletion. */
  deleted({ metadata }: KubernetesObject): void {
    const last = this.#byUid.get(metadata.uid ?? '');
    if (last) last.isOurEnd = true;
  }

  forget(object: KubernetesObject): void {
    const last = this.#byUid.get(object.metadata.uid ?? '');
    if (!last) return;
    this.#byUid.delete(object.metadata.uid ?? '');
    if (!last.isOurEnd) this.#gone.set(nameOf(last.desired), ownersOf(last.desired));
    // Those that went with their owner are never applied again.
    const [oldest = ''] = this.#gone.keys();
    if (this.#gone.size > MOST_GONE) this.#gone.delete(oldest);
  }

  get size(): number {
    return this.#byUid.size;
  }

  /** Whether `live` still has every field as the server set it when `desired` was applied. */
  isInPlace(desired: KubernetesObject, live: KubernetesObject): boolean {
    const last = this.#byUid.get(live.metadata.uid ?? '');
    if (!last || !isDeepStrictEqual(last.desired, desired)) return false;
    return isAsIn(last.answer, live, desired);
  }

  /** Whether somebody has changed or deleted what we left under this name. What is to become of it now does not matter. */
  hasDrifted(desired: KubernetesObject, live: KubernetesObject | undefined): boolean {
    const last = this.#byUid.get(live?.metadata.uid ?? '');
    if (last && live) return !isAsIn(last.left, live, last.desired);
    // One of the same name under another owner has another past.
    return this.#gone.get(nameOf(desired)) === ownersOf(desired);
  }
}

interface Applied {
  readonly desired: KubernetesObject;
  /** What the server made of it. */
  readonly answer: KubernetesObject;
  /** As our last write left it: a step may have changed it since it was applied. */
  left: KubernetesObject;
  /** If it goes, that is our doing. */
  isOurEnd: boolean;
}

/** Enough for whatever a pass comes back to, within moments. */
const MOST_GONE = 1_000;

const nameOf = ({ apiVersion, kind, metadata }: KubernetesObject) => `${apiVersion} ${kind} ${keyOf(metadata)}`;

const ownersOf = ({ metadata }: KubernetesObject) => (metadata.ownerReferences ?? []).map(({ uid }) => uid).join();

function isAsIn(before: KubernetesObject, live: KubernetesObject, shape: KubernetesObject): boolean {
  return before.metadata.resourceVersion === live.metadata.resourceVersion || isSameWhere(shape, before, live);
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
