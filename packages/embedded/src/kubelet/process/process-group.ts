import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import type { Clock } from '@polder/kube';
import { launcher, type Program } from './program.ts';
import type { Reaper } from './reaper.ts';
import type { ProcessRecords } from './records.ts';

export interface Exit {
  /** 128 + n after signal n. */
  readonly exitCode: number;
  readonly signal?: number;
}

/** Takes what a process says; the next piece comes when it is done with this one. */
export type Output = (stream: 'stdout' | 'stderr', piece: Buffer) => Promise<void>;

export interface GroupOptions {
  readonly reaper: Reaper;
  readonly records: ProcessRecords;
  readonly clock: Clock;
}

/** Processes that moved to a group of their own may keep the outputs open for ever: they are not waited for longer. */
const LAST_WORDS_MS = 1000;

/** A program and all that it starts, in a process group of its own, which ends when the program ends. */
export class ProcessGroup {
  /** Settles when all that was said has been taken. Never rejects. */
  readonly ended: Promise<Exit>;
  readonly #pid: number;
  #isOver = false;

  /** With `joinsOutputs` all it says comes as stdout, in the order in which it was said. */
  static async start(
    program: Program,
    output: Output,
    options: GroupOptions,
    { joinsOutputs = false } = {},
  ): Promise<ProcessGroup> {
    if (options.reaper.isClosed) throw new Error('the runner is closed');
    const { file, args, env } = launcher(program, joinsOutputs);
    const child = spawn(file, args, {
      cwd: program.directory,
      env,
      // A session, and with it a process group, of its own.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', options.reaper.pipe],
    });
    if (child.pid !== undefined) {
      options.reaper.add(child.pid);
      options.records.add(child.pid);
    }
    // Listened for at once: a short program has ended before anybody knows that it has started.
    const exit = new Promise<Exit>((resolve) => {
      child.once('exit', (code, name) => resolve(exitOf(code, name)));
    });
    const said = Promise.all([take('stdout', child.stdout, output), take('stderr', child.stderr, output)]);
    await once(child, 'spawn');
    return new ProcessGroup(child, exit, said, options);
  }

  private constructor(child: ChildProcess, exit: Promise<Exit>, said: Promise<unknown>, options: GroupOptions) {
    if (child.pid === undefined) throw new Error('a process was started without a number');
    this.#pid = child.pid;
    this.ended = this.#end(child, exit, said, options);
  }

  signal(name: 'SIGTERM' | 'SIGKILL'): void {
    // Once it is over, the number may be that of somebody else.
    if (!this.#isOver) killGroup(this.#pid, name);
  }

  async #end(
    { stdout, stderr }: ChildProcess,
    exit: Promise<Exit>,
    said: Promise<unknown>,
    { reaper, records, clock }: GroupOptions,
  ): Promise<Exit> {
    const ending = await exit;
    this.signal('SIGKILL');
    this.#isOver = true;
    reaper.remove(this.#pid);
    records.remove(this.#pid);
    const patience = clock.after(LAST_WORDS_MS, () => {
      stdout?.destroy();
      stderr?.destroy();
    });
    await said;
    patience.cancel();
    return ending;
  }
}

async function take(stream: 'stdout' | 'stderr', pieces: Readable | null, output: Output): Promise<void> {
  try {
    for await (const piece of pieces ?? []) await output(stream, piece);
  } catch {
    // The pipe broke or was given up: there is nothing more to take.
  }
}

function exitOf(code: number | null, name: NodeJS.Signals | null): Exit {
  if (name === null) return { exitCode: code ?? 0 };
  const signal = constants.signals[name];
  return { exitCode: 128 + signal, signal };
}

function killGroup(group: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-group, signal);
  } catch {
    // Nobody is left in it.
  }
}
