/** What a fetch should bring, decompressed. More would only wait, and what waits for long costs the garbage collector most. */
const WANTED_BYTES = 512 * 1024;
const SMALLEST = 64 * 1024;
const LARGEST = WANTED_BYTES;

/**
 * How many bytes to ask for. Brokers count them as they are stored, and repetitive JSON grows twentyfold and more when it is
 * decompressed; so the limit follows what the last fetches became.
 */
export class FetchSize {
  #bytes = LARGEST;

  get bytes(): number {
    return this.#bytes;
  }

  /** A fetch brought messages of so many bytes. */
  brought(bytes: number): void {
    if (bytes === 0) return;
    // At most doubled: one fetch that brought little says only that there was little to bring.
    const fitting = this.#bytes * Math.min(2, WANTED_BYTES / bytes);
    this.#bytes = Math.round(Math.min(LARGEST, Math.max(SMALLEST, fitting)));
  }
}
