import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { vi } from 'vitest';

const PROGRAM = join(import.meta.dirname, '../../polder');

/** `polder operator`, as its users start it: a process of its own. */
export class OperatorProcess {
  readonly #child: ChildProcess;
  readonly #exit: Promise<unknown>;
  #said = '';

  constructor(args: readonly string[], env: NodeJS.ProcessEnv) {
    this.#child = spawn(PROGRAM, ['operator', ...args], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => (this.#said += text));
    }
    this.#exit = once(this.#child, 'exit').then(([code]: unknown[]) => code);
  }

  /** Waits until it has said this; what it said instead is the failure. */
  async says(what: RegExp, patience: number): Promise<void> {
    const isSaid = () => what.test(this.#said);
    const hasEnded = () => this.#child.exitCode !== null;
    await vi.waitUntil(() => isSaid() || hasEnded(), { timeout: patience, interval: 50 }).catch(() => {});
    if (!isSaid()) throw new Error(`the operator has not said ${what}, but: ${this.#said}`);
  }

  /** Resolves with its exit code once it has ended; null if the signal ended it. */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<unknown> {
    this.#child.kill(signal);
    return this.#exit;
  }
}
