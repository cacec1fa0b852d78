import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';

/** Ticks of the kernel's books. */
const TICKS_PER_SECOND = 100;
const GRACE_MS = 10_000;

/** A client under measurement, alone on its core with all its threads. */
export class ClientProcess {
  readonly #child: ChildProcess;
  readonly #log: string;
  readonly #ended: Promise<void>;

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

  /** User and system time of all its threads so far. */
  cpuSeconds(): number {
    const text = this.#file('stat');
    // The name of the program comes second, in parentheses, and may hold anything.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  }

  peakRssMb(): number {
    return Number(/^VmHWM:\s+(\d+) kB/m.exec(this.#file('status'))?.[1]) / 1024;
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
