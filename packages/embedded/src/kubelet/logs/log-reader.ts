import { closeSync, fstatSync, read as readFromFile } from 'node:fs';
import { promisify } from 'node:util';
import { parseLogLine } from './log-line.ts';
import type { LogWriter } from './log-writer.ts';
import { isRotated, openSegment, segmentsOf } from './segments.ts';

export interface LogReading {
  /** Goes on until the container has ended. */
  readonly follow: boolean;
  readonly timestamps: boolean;
  /** Counted from the end, when reading begins. */
  readonly tailLines: number | undefined;
  /** In milliseconds: nothing older. */
  readonly since: number | undefined;
  readonly limitBytes: number | undefined;
  readonly signal: AbortSignal | undefined;
}

const BLOCK = 64 * 1024;
const NEWLINE = 0x0a;
const NEWLINE_BYTES = Buffer.from('\n');

const read = promisify(readFromFile);

/**
 * What a container has written, piece by piece: the next one is read when it is asked for, so that a slow reader costs one
 * piece of memory. `writer` is there while the container runs.
 */
export async function* readLog(
  path: string,
  writer: LogWriter | undefined,
  reading: LogReading,
): AsyncGenerator<Uint8Array> {
  let left = reading.limitBytes ?? Number.POSITIVE_INFINITY;
  const shown = shower(reading);
  for await (const lines of linesOf(path, writer, reading)) {
    const bytes = Buffer.concat(lines.map(shown));
    if (bytes.length > 0) yield bytes.length > left ? bytes.subarray(0, left) : bytes;
    left -= bytes.length;
    if (left <= 0) return;
  }
}

const NOTHING = Buffer.alloc(0);

function shower({ since, timestamps }: LogReading): (line: Buffer) => Buffer {
  let isNewLine = true;
  return (line) => {
    const parsed = parseLogLine(line);
    if (parsed === undefined || (since !== undefined && Date.parse(parsed.timestamp) < since)) return NOTHING;
    const { timestamp, text } = parsed;
    const shown = timestamps && isNewLine ? Buffer.concat([Buffer.from(`${timestamp} `), text]) : text;
    isNewLine = text.at(-1) === NEWLINE;
    return shown;
  };
}

/** The lines of the files, as they are in there, in bunches. */
async function* linesOf(
  path: string,
  writer: LogWriter | undefined,
  { follow, tailLines, signal }: LogReading,
): AsyncGenerator<readonly Buffer[]> {
  let { segment, offset } = tailLines === undefined ? { segment: 0, offset: 0 } : await tailOf(path, tailLines);
  if (segment === 0) segment = segmentsOf(path)[0] ?? 1;
  let file = openSegment(path, segment);
  let begun: Buffer = NOTHING;
  try {
    for (;;) {
      if (signal?.aborted) return;
      // All three before the read: what they promise then holds for everything that it can find.
      const isLast = !isRotated(path, segment);
      const isGrowing = follow && writer?.isOpen;
      const changed = writer?.changed;
      const block = await readBlock(file, offset, BLOCK);
      offset += block.length;
      if (block.length > 0) {
        const bytes = Buffer.concat([begun, block]);
        const end = bytes.lastIndexOf(NEWLINE) + 1;
        begun = Buffer.from(bytes.subarray(end));
        yield splitLines(bytes.subarray(0, end));
      } else if (!isLast) {
        closeSync(file);
        // The ones in between may be gone already, if the container writes faster than this reader reads.
        segment = segmentsOf(path).find((number) => number > segment) ?? segment;
        file = openSegment(path, segment);
        [offset, begun] = [0, NOTHING];
      } else if (isGrowing) await changeOrStop(changed, signal);
      else return;
    }
  } finally {
    closeSync(file);
  }
}

/** No race with a promise that lasts as long as the reading: it would remember every change that it was raced with. */
function changeOrStop(changed: Promise<void> | undefined, signal: AbortSignal | undefined): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const wake = () => {
    signal?.removeEventListener('abort', wake);
    resolve();
  };
  signal?.addEventListener('abort', wake);
  void changed?.then(wake);
  if (signal?.aborted) wake();
  return promise;
}

function splitLines(bytes: Buffer): readonly Buffer[] {
  const lines: Buffer[] = [];
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(NEWLINE, start) + 1;
    lines.push(bytes.subarray(start, end));
    start = end;
  }
  return lines;
}

/** Where the last so many lines begin: from the end backwards, block by block. */
async function tailOf(path: string, lines: number): Promise<{ readonly segment: number; readonly offset: number }> {
  let missing = lines;
  const segments = segmentsOf(path);
  for (const segment of segments.toReversed()) {
    const file = openSegment(path, segment);
    try {
      const { size } = fstatSync(file);
      if (missing === 0) return { segment, offset: size };
      // The end of line at the very end belongs to the last line, it does not begin one.
      for (let end = size - 1; end > 0; end -= BLOCK) {
        const start = Math.max(0, end - BLOCK);
        const block = await readBlock(file, start, end - start);
        for (let at = block.length; at > 0; ) {
          at = block.subarray(0, at).lastIndexOf(NEWLINE_BYTES);
          if (at >= 0 && --missing === 0) return { segment, offset: start + at + 1 };
        }
      }
      if (size > 0) missing--;
      if (missing === 0) return { segment, offset: 0 };
    } finally {
      closeSync(file);
    }
  }
  return { segment: segments[0] ?? 1, offset: 0 };
}

async function readBlock(file: number, offset: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length);
  const { bytesRead } = await read(file, buffer, 0, length, offset);
  return buffer.subarray(0, bytesRead);
}
