import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '@polder/kube';
import type { StreamName } from './log-line.ts';
import { type LogReading, readLog } from './log-reader.ts';
import { type LogLimits, LogWriter } from './log-writer.ts';
import { removeLog } from './segments.ts';

const WHOLE: LogReading = {
  follow: false,
  timestamps: false,
  tailLines: undefined,
  since: undefined,
  limitBytes: undefined,
  signal: undefined,
};
const LOG = /^(\d+)\.log$/;

/** The logs of containers, each in a directory of its own: `0.log` of its first run, `1.log` of the next. */
export class ContainerLogs {
  readonly #clock: Clock;
  readonly #limits: LogLimits | undefined;
  readonly #open = new Map<string, LogWriter>();

  constructor(clock: Clock, limits?: LogLimits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  /** The log of a new run. The one before is kept for `kubectl logs --previous`, older ones are not. */
  begin(directory: string, run: number): void {
    mkdirSync(directory, { recursive: true });
    for (const old of this.runs(directory).filter((number) => number < run - 1)) removeLog(fileOf(directory, old));
    this.#open.set(fileOf(directory, run), new LogWriter(fileOf(directory, run), this.#clock, this.#limits));
  }

  /** Resolves when it is written; whoever waits for that before reading on never holds more than one piece in memory. */
  async write(directory: string, run: number, stream: StreamName, piece: Buffer): Promise<void> {
    await this.#open.get(fileOf(directory, run))?.write(stream, piece);
  }

  async end(directory: string, run: number): Promise<void> {
    const path = fileOf(directory, run);
    const writer = this.#open.get(path);
    this.#open.delete(path);
    await writer?.close();
  }

  /** In ascending order. */
  runs(directory: string): readonly number[] {
    const names = existsSync(directory) ? readdirSync(directory) : [];
    return names
      .flatMap((name) => LOG.exec(name)?.[1] ?? [])
      .map(Number)
      .toSorted((a, b) => a - b);
  }

  isOpen(directory: string, run: number): boolean {
    return this.#open.has(fileOf(directory, run));
  }

  read(directory: string, run: number, reading: LogReading): AsyncGenerator<Uint8Array> {
    const path = fileOf(directory, run);
    return readLog(path, this.#open.get(path), reading);
  }

  tail(directory: string, run: number, tailLines: number): AsyncGenerator<Uint8Array> {
    return readLog(fileOf(directory, run), undefined, { ...WHOLE, tailLines });
  }
}

const fileOf = (directory: string, run: number) => join(directory, `${run}.log`);
