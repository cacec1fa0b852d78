/** One partition of the topic that the group gave us, until it takes it away again. */
export class Lease {
  readonly topic: string;
  readonly partition: number;
  /** `topic/partition` */
  readonly name: string;
  /** Where to read on. Undefined: it was not looked up yet. */
  next: number | undefined;

  constructor(topic: string, partition: number) {
    this.topic = topic;
    this.partition = partition;
    this.name = `${topic}/${partition}`;
  }
}

/** What is committed: an offset, read under a lease. Once that is lost, the offset is somebody else's business. */
export class Position {
  readonly lease: Lease;
  readonly offset: number;

  constructor(lease: Lease, offset: number) {
    this.lease = lease;
    this.offset = offset;
  }

  /** For people. */
  toString(): string {
    const { topic, partition } = this.lease;
    return `topic ${topic}, partition ${partition}, offset ${this.offset}`;
  }
}

export interface Assignment {
  readonly generation: number;
  readonly leases: ReadonlyMap<number, Lease>;
}

export interface Change {
  readonly assignment: Assignment;
  readonly lost: readonly Lease[];
}

/**
 * What a rebalance changes for us. A partition that we have in two generations in a row was nobody else's in between: we go on
 * where we are, and what is in flight may still be committed. After a generation that went by without us (we were thought
 * dead) everything is read again from where it was committed, because others may have read it meanwhile.
 */
export function changeOf(before: Assignment, generation: number, topic: string, partitions: readonly number[]): Change {
  const isNext = generation === before.generation || generation === before.generation + 1;
  const leases = new Map<number, Lease>();
  for (const partition of partitions) {
    const kept = isNext ? before.leases.get(partition) : undefined;
    leases.set(partition, kept ?? new Lease(topic, partition));
  }
  const lost = [...before.leases.values()].filter((lease) => leases.get(lease.partition) !== lease);
  return { assignment: { generation, leases }, lost };
}

export const NOTHING: Assignment = { generation: -1, leases: new Map() };
