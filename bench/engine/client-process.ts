import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';

/** Ticks of the kernel's books. */
const TICKS_PER_SECOND = 100;
const GRACE_MS = 10_000;

export interface Use {
  readonly cpuSeconds: number;
  readonly peakRssMb: number;
}

/** A client under measurement, alone on its core with all its threads. */
export class ClientProcess {
  readonly #child: ChildProcess;
  readonly #log: string;
  readonly #ended: Promise<void>;
  #use: Use = { cpuSeconds: 0, peakRssMb: 0 };

  /** `log` is a file for what it says. */
  constructor(command: readonly string[], core: number, log: string) {
    this.#log = log;
    const output = openSync(log, 'w');
    this.#child = spawn('taskset', ['-c', String(core), ...command], { stdio: ['ignore', output, output] });
    closeSync(output);
    const killWithParent = () => this.#child.kill('SIGKILL');
    process.once('exit', killWithParent);
    this.#ended = new Promise<void>((resolve) => {
      this.#child.once('exit', () => resolve());
      this.#child.once('error', () => resolve());
    }).then(() => void process.off('exit', killWithParent));
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** The end of what it said. */
  get said(): string {
    return readFileSync(this.#log, 'utf8').trimEnd().split('\n').slice(-20).join('\n');
  }

  /** What it has used so far, all its threads together; after its end, what it had used when it was last looked at. */
  use(): Use {
    try {
      const stat = this.#file('stat');
      // The name of the program comes second, in parentheses, and may hold anything.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      const peak = /^VmHWM:\s+(\d+) kB/m.exec(this.#file('status'))?.[1];
      if (peak === undefined) return this.#use;
      const ticks = Number(fields[11]) + Number(fields[12]);
      this.#use = { cpuSeconds: ticks / TICKS_PER_SECOND, peakRssMb: Number(peak) / 1024 };
    } catch {
      // It ended meanwhile, and its books with it.
    }
    return this.#use;
  }

  async stop(): Promise<void> {
    this.#child.kill('SIGTERM');
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), GRACE_MS);
    await this.#ended;
    clearTimeout(timer);
  }

  #file(name: string): string {
    return readFileSync(`/proc/${this.#child.pid}/${name}`, 'utf8');
  }
}
