import { closeSync, fstatSync, openSync, write as writeToFile } from 'node:fs';
import { promisify } from 'node:util';
import type { Clock } from '@polder/kube';
import { linePrefix, type StreamName } from './log-line.ts';
import { rotate } from './segments.ts';

export interface LogLimits {
  /** A file that has grown to this is put aside. */
  readonly maxBytes: number;
  /** With the one that is being written. */
  readonly maxFiles: number;
}

/** The defaults of the real kubelet. */
export const LOG_LIMITS: LogLimits = { maxBytes: 10 * 1024 * 1024, maxFiles: 5 };

/** Longer lines are written in parts, as container runtimes do: a line without end must not be held in memory. */
const LONGEST_LINE = 16 * 1024;
const NEWLINE = 0x0a;

const write = promisify(writeToFile);

/** Writes what one run of a container says. */
export class LogWriter {
  readonly #path: string;
  readonly #clock: Clock;
  readonly #limits: LogLimits;
  #file: number;
  #size: number;
  #isOpen = true;
  /** The begun line of each stream. */
  readonly #begun: Record<StreamName, Buffer> = { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) };
  /** Both streams write to one file: one after the other. */
  #last: Promise<void> = Promise.resolve();
  #change = Promise.withResolvers<void>();

  constructor(path: string, clock: Clock, limits: LogLimits = LOG_LIMITS) {
    this.#path = path;
    this.#clock = clock;
    this.#limits = limits;
    this.#file = openSync(path, 'a', 0o600);
    this.#size = fstatSync(this.#file).size;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Resolves at the next change: more was written, or nothing more will be. */
  get changed(): Promise<void> {
    return this.#change.promise;
  }

  write(stream: StreamName, piece: Buffer): Promise<void> {
    const { lines, rest } = split(Buffer.concat([this.#begun[stream], piece]));
    // A copy: a view would keep the whole piece in memory for its last few bytes.
    this.#begun[stream] = Buffer.from(rest);
    return this.#append(stream, lines);
  }

  /** Lines that were begun are written as they are. */
  async close(): Promise<void> {
    for (const stream of ['stdout', 'stderr'] as const) {
      const text = this.#begun[stream];
      this.#begun[stream] = Buffer.alloc(0);
      if (text.length > 0) void this.#append(stream, [{ text, isWhole: false }]).catch(() => {});
    }
    await this.#last.catch(() => {});
    this.#isOpen = false;
    closeSync(this.#file);
    this.#tell();
  }

  #append(stream: StreamName, lines: readonly Line[]): Promise<void> {
    if (lines.length === 0) return Promise.resolve();
    const bytes = formatted(lines, this.#clock.now(), stream);
    const written = this.#last.catch(() => {}).then(() => this.#save(bytes));
    this.#last = written;
    return written;
  }

  async #save(bytes: Buffer): Promise<void> {
    for (let done = 0; done < bytes.length; ) done += (await write(this.#file, bytes, done)).bytesWritten;
    this.#size += bytes.length;
    if (this.#size >= this.#limits.maxBytes) this.#rotate();
    this.#tell();
  }

  #rotate(): void {
    rotate(this.#path, this.#limits.maxFiles);
    closeSync(this.#file);
    this.#file = openSync(this.#path, 'a', 0o600);
    this.#size = 0;
  }

  #tell(): void {
    this.#change.resolve();
    this.#change = Promise.withResolvers();
  }
}

interface Line {
  readonly text: Buffer;
  readonly isWhole: boolean;
}

/** Into one buffer that is made once: a container may write millions of lines. */
function formatted(lines: readonly Line[], at: number, stream: StreamName): Buffer {
  const [whole, part] = [linePrefix(at, stream, true), linePrefix(at, stream, false)];
  const around = whole.length + 1;
  const bytes = Buffer.allocUnsafe(lines.reduce((size, { text }) => size + around + text.length, 0));
  let end = 0;
  for (const { text, isWhole } of lines) {
    end += (isWhole ? whole : part).copy(bytes, end);
    end += text.copy(bytes, end);
    bytes[end++] = NEWLINE;
  }
  return bytes;
}

function split(bytes: Buffer): { readonly lines: readonly Line[]; readonly rest: Buffer } {
  const lines: Line[] = [];
  let start = 0;
  while (start < bytes.length) {
    const end = bytes.indexOf(NEWLINE, start);
    const isWhole = end !== -1 && end - start <= LONGEST_LINE;
    if (!isWhole && bytes.length - start <= LONGEST_LINE) break;
    const next = isWhole ? end : start + LONGEST_LINE;
    lines.push({ text: bytes.subarray(start, next), isWhole });
    start = isWhole ? next + 1 : next;
  }
  return { lines, rest: bytes.subarray(start) };
}
