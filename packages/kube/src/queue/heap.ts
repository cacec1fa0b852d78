/** A binary heap: the smallest first. */
export class Heap<T> {
  readonly #items: T[] = [];
  readonly #isLess: (a: T, b: T) => boolean;

  constructor(isLess: (a: T, b: T) => boolean) {
    this.#isLess = isLess;
  }

  get size(): number {
    return this.#items.length;
  }

  peek(): T | undefined {
    return this.#items[0];
  }

  push(item: T): void {
    const items = this.#items;
    let at = items.push(item) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#swapIfLess(at, parent)) break;
      at = parent;
    }
  }

  pop(): T | undefined {
    const items = this.#items;
    const first = items[0];
    const last = items.pop();
    if (last === undefined || items.length === 0) return first;
    items[0] = last;
    for (let at = 0; ; ) {
      const left = 2 * at + 1;
      const right = left + 1;
      const child = right < items.length && this.#less(right, left) ? right : left;
      if (child >= items.length || !this.#swapIfLess(child, at)) return first;
      at = child;
    }
  }

  #less(a: number, b: number): boolean {
    const [x, y] = [this.#items[a], this.#items[b]];
    return x !== undefined && y !== undefined && this.#isLess(x, y);
  }

  #swapIfLess(a: number, b: number): boolean {
    const [x, y] = [this.#items[a], this.#items[b]];
    if (x === undefined || y === undefined || !this.#isLess(x, y)) return false;
    this.#items[a] = y;
    this.#items[b] = x;
    return true;
  }
}
