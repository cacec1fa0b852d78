import type { Origin } from '../message.ts';

/**
 * Which inputs are done, and how far each partition may be committed: up to the last input before the first one of which
 * something is still on its way. Inputs are opened in the order in which they were read and settle in any order.
 *
 * Each call takes constant time, amortised; what is kept is what is between the first unfinished input of a partition and the
 * last one opened.
 */
export class Ledger {
  readonly #partitions = new Map<string, Partition>();
  /** Partitions that may be committed further than they were. */
  readonly #advanced = new Set<Partition>();
  #size = 0;

  /** How many inputs were opened and may not be committed yet. */
  get size(): number {
    return this.#size;
  }

  get hasCommittable(): boolean {
    return this.#advanced.size > 0;
  }

  /** An input was read and so many messages are made of it. None: it is done. */
  opened(origin: Origin, outputs: number): void {
    let partition = this.#partitions.get(origin.partition);
    if (partition === undefined) {
      partition = new Partition(origin.sequence);
      this.#partitions.set(origin.partition, partition);
    }
    if (partition.isHeld) return;
    partition.open(origin, outputs);
    this.#size++;
    if (outputs === 0) this.#advance(partition);
  }

  /** One of the messages made of it was written, or dropped. What was forgotten meanwhile is nobody's business any more. */
  settled(origin: Origin): void {
    const partition = this.#partitions.get(origin.partition);
    if (partition?.settle(origin)) this.#advance(partition);
  }

  /** Neither this input nor any later one of its partition is committed in this run; what is before it still is. */
  hold(origin: Origin): void {
    const partition = this.#partitions.get(origin.partition);
    if (partition) this.#size -= partition.holdFrom(origin);
  }

  /** The partition went to another reader, who starts where it was committed: nothing of it is ours to commit. */
  forget(name: string): void {
    const partition = this.#partitions.get(name);
    if (!partition) return;
    this.#size -= partition.size;
    this.#partitions.delete(name);
    this.#advanced.delete(partition);
  }

  /** Up to and including these may be committed: one for each partition that got further since the last call. */
  takeCommittable(): Origin[] {
    const committable: Origin[] = [];
    for (const partition of this.#advanced) {
      const last = partition.takeLastDone();
      if (!last) continue;
      committable.push(last);
      // One that is read no more must not stay for ever; the next input makes it anew.
      if (partition.size === 0 && !partition.isHeld) this.#partitions.delete(last.partition);
    }
    this.#advanced.clear();
    return committable;
  }

  #advance(partition: Partition): void {
    const done = partition.advance();
    if (done === 0) return;
    this.#size -= done;
    this.#advanced.add(partition);
  }
}

/** What passed is cut off once it is this much and the greater part. */
const FEW = 1_024;

/** The inputs of one partition from the first unfinished one on, found by their sequence. */
class Partition {
  /** The sequence of what is at index 0. */
  #base: number;
  /** The index of the first unfinished input: everything before it is done. */
  #head = 0;
  #origins: (Origin | undefined)[] = [];
  #outstanding: number[] = [];
  #lastDone: Origin | undefined;
  #isHeld = false;

  constructor(firstSequence: number) {
    this.#base = firstSequence;
  }

  get size(): number {
    return this.#origins.length - this.#head;
  }

  get isHeld(): boolean {
    return this.#isHeld;
  }

  open(origin: Origin, outputs: number): void {
    const expected = this.#base + this.#origins.length;
    if (origin.sequence !== expected) {
      throw new Error(
        `partition ${origin.partition}: sequence ${origin.sequence} was read where ${expected} comes next`,
      );
    }
    this.#origins.push(origin);
    this.#outstanding.push(outputs);
  }

  /** True: the input is done. */
  settle(origin: Origin): boolean {
    const index = origin.sequence - this.#base;
    // By identity: a partition that was lost and came back may count anew, and what was in flight of its first life says
    // nothing about its second.
    if (this.#origins[index] !== origin) return false;
    const left = (this.#outstanding[index] ?? 0) - 1;
    if (left < 0) throw new Error(`partition ${origin.partition}: sequence ${origin.sequence} settled more than once`);
    this.#outstanding[index] = left;
    return left === 0;
  }

  /** Moves over what is done and says how much it was. */
  advance(): number {
    const from = this.#head;
    while (this.#head < this.#origins.length && this.#outstanding[this.#head] === 0) {
      this.#lastDone = this.#origins[this.#head];
      this.#origins[this.#head++] = undefined;
    }
    const done = this.#head - from;
    if (this.#head >= FEW && this.#head * 2 >= this.#origins.length) this.#cutOff();
    return done;
  }

  takeLastDone(): Origin | undefined {
    const last = this.#lastDone;
    this.#lastDone = undefined;
    return last;
  }

  /** Says how many inputs are no longer kept. */
  holdFrom(origin: Origin): number {
    const index = origin.sequence - this.#base;
    if (this.#origins[index] !== origin) return 0;
    const given = this.#origins.length - index;
    this.#origins.length = index;
    this.#outstanding.length = index;
    this.#isHeld = true;
    return given;
  }

  #cutOff(): void {
    this.#origins = this.#origins.slice(this.#head);
    this.#outstanding = this.#outstanding.slice(this.#head);
    this.#base += this.#head;
    this.#head = 0;
  }
}
