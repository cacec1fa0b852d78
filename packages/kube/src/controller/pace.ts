/** How the passes of a product's controllers follow each other. */
export interface Pace {
  /** A pass that takes longer is given up and tried again, unless its controller says otherwise. */
  readonly passTimeoutMs: number;
  /** How long a resource waits after its first failure in a row; doubled with each further one. */
  readonly firstRetryMs: number;
  readonly longestRetryMs: number;
  /** How soon a pass that carried out steps is followed by one that looks at what they did. */
  readonly afterStepsMs: number;
}

export const DEFAULT_PACE: Pace = {
  passTimeoutMs: 300_000,
  firstRetryMs: 5,
  longestRetryMs: 1_000_000,
  afterStepsMs: 1_000,
};
