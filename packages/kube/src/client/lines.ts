const NEWLINE = 10;

/**
 * Cuts a stream into its lines, and hands over together all that arrived together: a consumer that works through a batch
 * pays for one turn of the event loop, not for one per line. Cuts at byte 10 only: inside JSON, U+2028 is no line end.
 */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer[], void, undefined> {
  let rest: Buffer[] = [];
  for await (const chunk of chunks) {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let start = 0;
    const lines: Buffer[] = [];
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      const line = bytes.subarray(start, end);
      lines.push(rest.length === 0 ? line : Buffer.concat([...rest, line]));
      rest = [];
      start = end + 1;
    }
    if (start < bytes.length) rest.push(bytes.subarray(start));
    if (lines.length > 0) yield lines;
  }
  if (rest.length > 0) yield [Buffer.concat(rest)];
}
