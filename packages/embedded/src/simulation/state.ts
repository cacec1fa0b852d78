import { apiVersionOf, type Kind, type KubernetesObject, keyOf, type ObjectRef, resourceNameOf } from '@polder/kube';
import type { Storage, StoredChange, StoredState } from '../apiserver/storage/index.ts';

/** What is stored at this moment, read without a request: looking does not change what happens. */
export interface State {
  /** In the order of their making. */
  list<T extends KubernetesObject>(kind: Kind<T>, namespace?: string): readonly T[];
  get<T extends KubernetesObject>(kind: Kind<T>, ref: ObjectRef): T | undefined;
  /** Every object as its text, for comparisons: `pods default/a` and what is stored there. */
  texts(): ReadonlyMap<string, string>;
}

/** Memory that lets itself be looked into, and tells of every write. */
export class ObservedStorage implements Storage, State {
  #revision = 0;
  readonly #stored = new Map<string, Map<string, Stored>>();
  readonly #onWrite: (change: StoredChange) => void;

  constructor(onWrite: (change: StoredChange) => void) {
    this.#onWrite = onWrite;
  }

  load(): StoredState {
    const objects = [...this.#stored].flatMap(([resource, stored]) =>
      [...stored].map(([key, { text }]) => ({ resource, key, text })),
    );
    return { revision: this.#revision, objects };
  }

  write(change: StoredChange): void {
    const { resource, key, revision, text } = change;
    this.#revision = revision;
    const objects = this.#stored.get(resource) ?? new Map<string, Stored>();
    this.#stored.set(resource, objects);
    if (text === undefined) objects.delete(key);
    else objects.set(key, { text, object: undefined });
    this.#onWrite(change);
  }

  close(): void {}

  list<T extends KubernetesObject>(kind: Kind<T>, namespace?: string): readonly T[] {
    const objects = [...(this.#stored.get(resourceNameOf(kind))?.values() ?? [])].map((stored) => read(stored, kind));
    return namespace === undefined ? objects : objects.filter(({ metadata }) => metadata.namespace === namespace);
  }

  get<T extends KubernetesObject>(kind: Kind<T>, ref: ObjectRef): T | undefined {
    const stored = this.#stored.get(resourceNameOf(kind))?.get(keyOf(ref));
    return stored && read(stored, kind);
  }

  texts(): ReadonlyMap<string, string> {
    const all = [...this.load().objects].map(({ resource, key, text }): [string, string] => [
      `${resource} ${key}`,
      text,
    ]);
    return new Map(all.toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }
}

interface Stored {
  readonly text: string;
  /** Parsed when somebody looks at it. */
  object: KubernetesObject | undefined;
}

function read<T extends KubernetesObject>(stored: Stored, kind: Kind<T>): T {
  const object: KubernetesObject = (stored.object ??= JSON.parse(stored.text));
  if (isOf(object, kind)) return object;
  const { apiVersion, metadata } = object;
  throw new Error(`${keyOf(metadata)} is stored as ${apiVersion} and was asked for as ${apiVersionOf(kind)}`);
}

function isOf<T extends KubernetesObject>(object: KubernetesObject, kind: Kind<T>): object is T {
  return object.kind === kind.kind && object.apiVersion === apiVersionOf(kind);
}
