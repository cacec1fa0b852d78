/**
 * A peer is a child process that does one thing and tells about it in lines of JSON. In mode `cache` it goes on with what
 * it is told on its standard input: `events N` (report the CPU time that the next N changes cost), `see MARK` (report when
 * a pod carries the mark) and, ours alone, `writes N` (report how long each write took to become readable).
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { cacheFolder } from './cache-folder.ts';

export type Report =
  | {
      readonly report: 'synced';
      readonly objects: number;
      /** CPU time from the birth of the process until it asked for the first byte, and from there until all was there. */
      readonly startCpuSeconds: number;
      readonly syncCpuSeconds: number;
      readonly rssMb: number;
      readonly peakRssMb: number;
      /** Null where there is no event loop. */
      readonly stallMs: number | null;
    }
  | { readonly report: 'ready' }
  | { readonly report: 'events'; readonly cpuSeconds: number }
  | { readonly report: 'seen' }
  | { readonly report: 'writes'; readonly readableAfterMs: readonly number[] }
  | { readonly report: 'queue'; readonly cpuSeconds: number }
  | { readonly report: 'listening'; readonly port: number }
  | { readonly report: 'done' };

export type ReportOf<Name extends Report['report']> = Extract<Report, { readonly report: Name }>;

export type QueueKind = 'priority' | 'plain';

export interface Peer {
  readonly name: string;
  /** The command lines; a peer without one for a mode is not measured in it. */
  readonly cache: (kubeconfig: string) => readonly string[];
  readonly gets?: (kubeconfig: string, count: number) => readonly string[];
  readonly queue?: (kind: QueueKind, keys: number) => readonly string[];
}

export class PeerProcess {
  readonly #child;
  readonly #lines: AsyncIterator<string>;
  readonly #ended: Promise<string>;

  constructor([program = '', ...args]: readonly string[]) {
    // Without it, a process from source keeps 30 MB of the compiler that strips its types.
    const env = { ...process.env, NODE_COMPILE_CACHE: join(cacheFolder(), 'compiled') };
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'], env });
    this.#child = child;
    this.#lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    this.#ended = new Promise((resolve) => {
      child.once('exit', (code, signal) => resolve(`${program} ended with ${code ?? signal}`));
      child.once('error', (error) => resolve(error.message));
    });
    // The pipe breaks when the child dies; what it died of is said by `next`.
    child.stdin.on('error', () => {});
  }

  tell(command: string): void {
    this.#child.stdin.write(`${command}\n`);
  }

  async next<Name extends Report['report']>(name: Name): Promise<ReportOf<Name>> {
    const { value: line, done } = await this.#lines.next();
    if (done) throw new Error(`${await this.#ended} before it reported "${name}"`);
    const report: Report = JSON.parse(line);
    if (!isReport(report, name)) throw new Error(`expected the report "${name}", got ${line}`);
    return report;
  }

  /** A peer whose input ends goes by itself. */
  async end(): Promise<void> {
    this.#child.stdin.end();
    await this.#ended;
  }
}

function isReport<Name extends Report['report']>(report: Report, name: Name): report is ReportOf<Name> {
  return report.report === name;
}
