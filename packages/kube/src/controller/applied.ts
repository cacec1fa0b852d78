import { hash } from 'node:crypto';
import { type KubernetesObject, keyOf } from '../kinds/index.ts';
import { ownsExactly } from './owned-fields.ts';

/**
 * Knows, without asking, that applying the same again would change nothing; and when somebody else has changed what is ours.
 *
 * - **How?** The live object has every field as we would send it, and by its managed fields these, and no others, are the ones
 *   that we applied. A field that we no longer want is then among those that we own; and one that others changed is not,
 *   even where the change is an addition to a list. This needs no memory: an operator that starts finds its work done.
 * - **What if the server stores something else?** It rewrites quantities (`1000m` is `1`), and webhooks add containers. So its
 *   answer is remembered, and compared in all that we sent. After a restart this costs one needless, and harmless, apply.
 *
 * Whoever hears that an object is gone has to say so with `forget`.
 */
export class LastApplied {
  readonly #manager: string;
  readonly #byUid = new Map<string, Applied>();
  /** By their text. What is made for a thousand resources has a handful of shapes. */
  readonly #shapes = new Map<string, Shape>();
  /** Objects that went without our doing: whose they were, by their names. */
  readonly #gone = new Map<string, string>();

  constructor(manager: string) {
    this.#manager = manager;
  }

  remember(desired: KubernetesObject, answer: KubernetesObject): void {
    this.#remember(desired, hashOf(desired), answer);
  }

  #remember(desired: KubernetesObject, wanted: string, answer: KubernetesObject): void {
    this.#gone.delete(nameOf(answer));
    const { uid } = answer.metadata;
    if (uid === undefined) return;
    const shape = this.#shared(shapeOf(desired));
    const made = stateIn(shape, answer);
    this.#byUid.set(uid, { wanted, shape, made, left: made, owners: ownersOf(desired), isOurEnd: false });
  }

  /** We wrote it by other means than applying it. */
  wrote(object: KubernetesObject): void {
    const last = this.#byUid.get(object.metadata.uid ?? '');
    if (last) last.left = stateIn(last.shape, object);
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
    if (!last.isOurEnd) this.#gone.set(nameOf(object), last.owners);
    // Those that went with their owner are never applied again.
    const [oldest = ''] = this.#gone.keys();
    if (this.#gone.size > MOST_GONE) this.#gone.delete(oldest);
  }

  get size(): number {
    return this.#byUid.size;
  }

  /** Whether `live` has every field as the server sets it when `desired` is applied. */
  isInPlace(desired: KubernetesObject, live: KubernetesObject): boolean {
    const last = this.#byUid.get(live.metadata.uid ?? '');
    const wanted = hashOf(desired);
    if (last?.wanted === wanted && isIn(last.made, last.shape, live)) return true;
    if (!this.#isEvident(desired, live)) return false;
    this.#remember(desired, wanted, live);
    return true;
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

  /** Whether somebody has changed or deleted what we left under this name. What is to become of it now does not matter. */
  hasDrifted(desired: KubernetesObject, live: KubernetesObject | undefined): boolean {
    const last = this.#byUid.get(live?.metadata.uid ?? '');
    if (last && live) return !isIn(last.left, last.shape, live);
    // One of the same name under another owner has another past.
    return this.#gone.get(nameOf(desired)) === ownersOf(desired);
  }

  #shared(shape: Shape): Shape {
    const text = JSON.stringify(shape);
    const known = this.#shapes.get(text);
    if (known === undefined) this.#shapes.set(text, shape);
    return known ?? shape;
  }
}

/** Hashes, because the objects themselves, twice for each in the cache, would be most of what an operator holds in memory. */
interface Applied {
  /** What we sent. */
  readonly wanted: string;
  readonly shape: Shape;
  /** What the server made of it. */
  readonly made: State;
  /** As our last write left it: a step may have changed it since it was applied. */
  left: State;
  readonly owners: string;
  /** If it goes, that is our doing. */
  isOurEnd: boolean;
}

interface State {
  readonly version: string | undefined;
  readonly hash: string;
}

/** The names of fields, and of fields in them; null where a value or a list is. */
type Shape = { readonly [name: string]: Shape } | null;

/** Enough for whatever a pass comes back to, within moments. */
const MOST_GONE = 1_000;

const nameOf = ({ apiVersion, kind, metadata }: KubernetesObject) => `${apiVersion} ${kind} ${keyOf(metadata)}`;

const ownersOf = ({ metadata }: KubernetesObject) => (metadata.ownerReferences ?? []).map(({ uid }) => uid).join();

const hashOf = (value: unknown): string => hash('sha256', JSON.stringify(value), 'base64url');

function shapeOf(value: unknown): Shape {
  if (!isObject(value)) return null;
  return Object.fromEntries(Object.keys(value).map((name) => [name, shapeOf(value[name])]));
}

const stateIn = (shape: Shape, object: KubernetesObject): State => ({
  version: object.metadata.resourceVersion,
  hash: hashOf(inShape(shape, object)),
});

const isIn = ({ version, hash: before }: State, shape: Shape, live: KubernetesObject): boolean =>
  version === live.metadata.resourceVersion || before === hashOf(inShape(shape, live));

/**
 * What a state says of all that a shape names. The server's own answer is compared, not what we sent: it fills in defaults and
 * rewrites quantities, and `1000m` for `1` is no drift. Lists are taken whole.
 */
function inShape(shape: Shape, state: unknown): unknown {
  if (shape === null || !isObject(state)) return state;
  return Object.fromEntries(Object.entries(shape).map(([name, inner]) => [name, inShape(inner, state[name])]));
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

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
