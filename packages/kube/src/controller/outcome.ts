/** What the queue does with a key next. A thrown error means: again, after its backoff. */
export type Outcome = Next & {
  /** A pass over the resource as this one left it would decide the same. */
  readonly isSettled?: boolean;
  /** The status was not told: the pass that follows is to tell it. */
  readonly isUntold?: boolean;
};

type Next =
  | { readonly next: 'await-change' }
  | { readonly next: 'look-again'; readonly afterMs: number; readonly because: string };

/** Thrown when only the user can fix it: shown in the status, and not tried again until something changes. */
export class UserMustAct extends Error {
  override readonly name = 'UserMustAct';
  /** One CamelCase word: the reason in the conditions and the event. */
  readonly reason: string;

  constructor(reason: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}
