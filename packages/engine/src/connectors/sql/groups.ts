/** Rows that one statement writes together. */
export interface Group<Row, Shape> {
  readonly shape: Shape;
  readonly rows: readonly Row[];
}

/**
 * Rows of one shape go together wherever that changes nothing: messages about the same row of the table keep their order, since
 * a row joins a group only if no later group has its key. (Rows of one group that have one key are the statement's business.)
 */
export class Groups<Row, Shape> {
  /** How much fits into one, in whatever sizes are counted in; a row that is larger has a group of its own. */
  readonly #mostSize: number;
  readonly #all: { readonly shape: Shape; readonly rows: Row[]; size: number }[] = [];
  readonly #lastOfShape = new Map<Shape, number>();
  readonly #lastOfIdentity = new Map<string, number>();

  constructor(mostSize: number) {
    this.#mostSize = mostSize;
  }

  /** In the order in which they must be written. */
  get all(): readonly Group<Row, Shape>[] {
    return this.#all;
  }

  add(
    row: Row,
    shape: Shape,
    { identity, size }: { readonly identity: string | undefined; readonly size: number },
  ): void {
    const candidate = this.#lastOfShape.get(shape);
    const last = identity === undefined ? undefined : this.#lastOfIdentity.get(identity);
    const group = candidate === undefined ? undefined : this.#all[candidate];
    let index = candidate ?? 0;
    if (group && (last ?? 0) <= index && group.size + size <= this.#mostSize) {
      group.rows.push(row);
      group.size += size;
    } else {
      index = this.#all.push({ shape, rows: [row], size }) - 1;
      this.#lastOfShape.set(shape, index);
    }
    if (identity !== undefined) this.#lastOfIdentity.set(identity, index);
  }
}
