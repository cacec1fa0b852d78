/** Gives every pod an address of its own for as long as it is there. */
export class Addresses {
  readonly #first: number;
  readonly #size: number;
  readonly #byPod = new Map<string, string>();
  readonly #taken = new Set<string>();
  #next = 1;

  /** Addresses of one block: `10.244.0.0` and its 65,534 followers. */
  constructor(block: string, size = 65_534) {
    this.#first = block.split('.').reduce((number, part) => number * 256 + Number(part), 0);
    this.#size = size;
  }

  /** An address that a pod was given before. */
  keep(uid: string, address: string): void {
    this.#byPod.set(uid, address);
    this.#taken.add(address);
  }

  of(uid: string): string {
    const known = this.#byPod.get(uid);
    if (known !== undefined) return known;
    for (let tries = 0; tries < this.#size; tries++) {
      const address = textOf(this.#first + this.#next);
      this.#next = (this.#next % this.#size) + 1;
      if (this.#taken.has(address)) continue;
      this.keep(uid, address);
      return address;
    }
    throw new Error(`all ${this.#size} addresses from ${textOf(this.#first)} on are taken by pods`);
  }

  release(uid: string): void {
    const address = this.#byPod.get(uid);
    this.#byPod.delete(uid);
    if (address !== undefined) this.#taken.delete(address);
  }
}

const textOf = (number: number) => [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join('.');
