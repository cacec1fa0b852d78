/** What one request carries. S3 takes no less than 5 MiB, but for the last. */
export const PART_BYTES = 16 * 2 ** 20;

const MOST_PARTS = 10_000;

/** Parts of a size, of which there are few enough. */
export const partBytesFor = (expectedBytes = 0): number => Math.max(PART_BYTES, Math.ceil(expectedBytes / MOST_PARTS));

/**
 * A stream in parts of the same size, but for the last; an empty stream is one part. They share their memory: a part is over when
 * the next one is asked for.
 */
export async function* partsOf(stream: AsyncIterable<Uint8Array>, partBytes: number): AsyncGenerator<Uint8Array> {
  const part = Buffer.allocUnsafeSlow(partBytes);
  let filled = 0;
  let isFirst = true;
  for await (const chunk of stream) {
    for (let taken = 0; taken < chunk.byteLength; ) {
      const some = chunk.subarray(taken, taken + partBytes - filled);
      part.set(some, filled);
      taken += some.byteLength;
      filled += some.byteLength;
      if (filled < partBytes) continue;
      yield part;
      isFirst = false;
      filled = 0;
    }
  }
  if (filled > 0 || isFirst) yield part.subarray(0, filled);
}
