/** Offsets of one partition that arrived one after the other. */
export interface Run {
  readonly from: number;
  /** The last one. */
  readonly to: number;
}

/**
 * Takes apart what a sink got of one partition, in the order in which it came: each time the partition was read again, a run
 * begins. Two may go on side by side, where one that was thought dead still wrote.
 */
export function runsOf(offsets: Iterable<number>): readonly Run[] {
  const runs: { from: number; to: number }[] = [];
  /** By the offset with which they would go on. */
  const open = new Map<number, { from: number; to: number }[]>();
  for (const offset of offsets) {
    const run = open.get(offset)?.pop() ?? { from: offset, to: offset };
    if (run.from === offset) runs.push(run);
    run.to = offset;
    const others = open.get(offset + 1);
    if (others) others.push(run);
    else open.set(offset + 1, [run]);
  }
  return runs;
}
