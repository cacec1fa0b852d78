/** How long things take, in milliseconds: orders of magnitude of a small real cluster of version 1.19. */
export const PACE = {
  /** From a leader's acceptance to the agreement of a majority. */
  commit: [5, 30],
  /** From agreement until a follower acts on it: views differ for so long. */
  follow: [20, 300],
  /** Until a peer that came back or came near hears the leader. */
  hear: [200, 500],
  /** Without a word from a leader, until followers campaign. */
  election: [2_500, 2_900],
  /** Between the terms of a candidate that nobody elects. */
  candidacy: 2_500,
  /** Between the elections that a removed peer, which does not know it, forces on the others. */
  disturbance: [6_000, 9_000],
  /** A call to a peer that is there, one that nobody answers for, one whose host is silent. */
  call: [1, 5],
  refused: [5, 20],
  silent: [9_500, 10_500],
  join: [1_000, 1_500],
  joinRefused: 600,
  /** The longest that a peer waits for its vote. */
  bootstrap: 15_000,
  /** Of a transfer without points, and for each point. */
  transfer: [300, 700],
  transferPoint: 0.5,
  /** Until a transfer to a peer that is gone gives up. */
  transferGivesUp: [4_000, 5_000],
  /** Until a peer that came back ends what it had begun to send. */
  transferOrphaned: [1_500, 3_000],
  /** Until a peer looks after its own replicas again. */
  look: [400, 900],
  /** The wait for new replicas to become active before a creation is answered all the same. */
  activation: 10_000,
  activationOfSilent: 19_000,
  /** The wait for replicas that missed a write to be marked. */
  deactivation: 30_000,
  recover: [300, 1_500],
  /** From the answer to a restored snapshot until the other replicas are marked. */
  marks: [100, 500],
  notReady: 500,
} as const;

/** A duration out of a range. */
export const within = ([from, to]: readonly [number, number], random: () => number): number =>
  from + (to - from) * random();
