/**
 * A line of a log file as container runtimes write it: `2026-01-02T03:04:05.678000000Z stdout F the text`. `F` ends a line of
 * the container; `P` is a part of one, for the next to go on with.
 */
export type StreamName = 'stdout' | 'stderr';

export interface LogLine {
  readonly timestamp: string;
  /** With the end of line, unless it is only a part of one. */
  readonly text: Buffer;
}

const [SPACE, NEWLINE, PARTIAL] = [0x20, 0x0a, 0x50];

/** `at` in milliseconds; nine digits of a second, as `kubectl logs --timestamps` shows them. */
export function linePrefix(at: number, stream: StreamName, isWhole: boolean): Buffer {
  return Buffer.from(`${new Date(at).toISOString().slice(0, -1)}000000Z ${stream} ${isWhole ? 'F' : 'P'} `);
}

/** Undefined for what is no such line: the half of one that a crash left. */
export function parseLogLine(line: Buffer): LogLine | undefined {
  const stream = line.indexOf(SPACE) + 1;
  const tag = line.indexOf(SPACE, stream) + 1;
  const text = line.indexOf(SPACE, tag) + 1;
  if (stream === 0 || tag === 0 || text === 0 || line.at(-1) !== NEWLINE) return undefined;
  const isPart = line[tag] === PARTIAL;
  return { timestamp: line.toString('latin1', 0, stream - 1), text: line.subarray(text, isPart ? -1 : undefined) };
}
