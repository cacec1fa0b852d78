/** The program as users start it, in a folder of its own. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, kubeconfig, socketTransport } from '@polder/kube';
import { expect } from 'vitest';

export const CHECKOUT = join(import.meta.dirname, '../../..');

/** How long anything may take on a machine that is busy with other things. */
const PATIENCE = { timeout: 30_000, interval: 50 };

export interface Started {
  readonly child: ChildProcess;
  /** What it has said so far. */
  readonly said: { readonly out: string; readonly err: string };
  readonly exit: Promise<unknown>;
  /** Waits until it has said this, or has ended. */
  says(what: RegExp): Promise<void>;
}

export class Workplace {
  readonly folder = mkdtempSync(join(tmpdir(), 'polder-'));
  readonly #running: ChildProcess[] = [];

  get dataDir(): string {
    return join(this.folder, '.polder');
  }

  get kubeconfig(): string {
    return join(this.dataDir, 'kubeconfig');
  }

  polder(...args: readonly string[]): Started {
    return this.run(join(CHECKOUT, 'polder'), ...args);
  }

  run(program: string, ...args: readonly string[]): Started {
    const child = spawn(program, args, { cwd: this.folder, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#running.push(child);
    const said = { out: '', err: '' };
    child.stdout.setEncoding('utf8').on('data', (text: string) => (said.out += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said.err += text));
    const exit = once(child, 'close').then(([code]: unknown[]) => code);
    const says = async (what: RegExp) => {
      await expect.poll(() => what.test(said.out) || child.exitCode !== null, PATIENCE).toBe(true);
      expect(said).toMatchObject({ out: expect.stringMatching(what) });
    };
    return { child, said, exit, says };
  }

  async result(...args: readonly string[]): Promise<{ readonly code: unknown; out: string; err: string }> {
    const { said, exit } = this.polder(...args);
    return { code: await exit, ...said };
  }

  /** A file beside the data. */
  write(name: string, text: string): string {
    const path = join(this.folder, name);
    writeFileSync(path, text);
    return path;
  }

  async connect(): Promise<Client> {
    const transport = socketTransport(await kubeconfig([this.kubeconfig]));
    return new Client({ transport, userAgent: 'polder/test' });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#running) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    // What the reaper has still to end may write for a moment.
    rmSync(this.folder, { recursive: true, maxRetries: 20 });
  }
}

/** The processes of this machine that have this on their command line. */
export function processesWith(mark: string): readonly string[] {
  const all = execFileSync('ps', ['-Awwo', 'pid=,args='], { encoding: 'utf8' });
  return all.split('\n').filter((line) => line.includes(mark));
}

export async function becomeProcesses(mark: string, count: number): Promise<void> {
  await expect.poll(() => processesWith(mark), PATIENCE).toHaveLength(count);
}

/** Runs until it is told to end, and has the mark on its command line. */
export function markedProgram(mark: string, { onTerm = 'exit 0' } = {}): string {
  return JSON.stringify(['sh', '-c', `trap '${onTerm}' TERM; while :; do sleep 60 & wait $!; done`, mark]);
}
