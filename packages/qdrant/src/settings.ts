/** What whoever runs the operator decides for all clusters. */
export interface Settings {
  readonly intervals: Intervals;
  /** After so many failed attempts to clean up, what is being deleted is let go. */
  readonly cleanupAttempts: number;
  /** How many clusters are worked on at once, and how many collections. */
  readonly workers: number;
}

export interface Intervals {
  /** How often a cluster or a collection is looked at whether or not anything happened. */
  readonly periodicMs: number;
  /** How soon it is looked at again while something is under way that no event tells of. */
  readonly progressMs: number;
  /** The same while nothing is waited for but what an event tells: in case that it never comes. */
  readonly awaitedMs: number;
  /** How long a peer may take to answer a question. */
  readonly readTimeoutMs: number;
  /** How long it may take to carry out what was asked of it: others have to agree first. */
  readonly writeTimeoutMs: number;
}

export const DEFAULTS: Settings = {
  intervals: {
    periodicMs: 300_000,
    progressMs: 2_000,
    awaitedMs: 30_000,
    readTimeoutMs: 5_000,
    writeTimeoutMs: 30_000,
  },
  cleanupAttempts: 10,
  // As many as there are connections to the API server: a pass waits for one write after the other, or for peers. One that does
  // not answer is waited for as long as it may take, and a node takes a peer of many clusters along when it goes.
  workers: 16,
};
