/** What the queue does with a key next. A thrown error means: again, after its backoff. */
export type Outcome = Next & {
  /**
   * In which versions the pass left the resource itself, if a pass over the last of them would decide the same: that these
   * come back to us is no news.
   */
  readonly left?: readonly string[];
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
