import { keyOf, type ObjectRef, refOf } from '@polder/kube';

/**
 * Which flows use which Secrets, as of their last passes: so that a Secret that changes finds its flows without a look at
 * every one of them. It need not outlive the process: a start looks at all flows anyway.
 */
export class SecretUsers {
  readonly #flows = new Map<string, Set<string>>();
  readonly #secrets = new Map<string, readonly string[]>();

  uses(flow: ObjectRef, secrets: readonly ObjectRef[]): void {
    this.forget(flow);
    if (secrets.length === 0) return;
    const keys = secrets.map(keyOf);
    this.#secrets.set(keyOf(flow), keys);
    for (const key of keys) {
      const users = this.#flows.get(key) ?? new Set();
      this.#flows.set(key, users.add(keyOf(flow)));
    }
  }

  of(secret: ObjectRef): readonly ObjectRef[] {
    return [...(this.#flows.get(keyOf(secret)) ?? [])].map(refOf);
  }

  forget(flow: ObjectRef): void {
    for (const key of this.#secrets.get(keyOf(flow)) ?? []) {
      const users = this.#flows.get(key);
      users?.delete(keyOf(flow));
      if (users?.size === 0) this.#flows.delete(key);
    }
    this.#secrets.delete(keyOf(flow));
  }
}
