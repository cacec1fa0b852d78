import type { WireObject } from '../served-kind.ts';
import type { Call } from '../verbs/call.ts';

/** What is about to happen to which object. */
export interface Review {
  readonly call: Call;
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE';
  readonly name: string;
  readonly isDryRun: boolean;
}

/** Whoever may object to a write, or change it. */
export interface Admission {
  /** The object as it shall be written. Throws if somebody objects. */
  mutate(review: Review, object: WireObject, old: WireObject | undefined): Promise<WireObject>;
  /** Throws if somebody objects. */
  validate(review: Review, object: WireObject | undefined, old: WireObject | undefined): Promise<void>;
}
