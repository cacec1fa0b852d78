import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Socket } from 'node:net';
import type { Stream } from 'node:stream';

/**
 * Reads `+group` and `-group`, a line each, until all ends of its pipe are closed, then kills the groups that are left. Only
 * what every shell has built in: nothing else can be counted on when the parent has just died.
 */
const SCRIPT = `
groups=' '
while read -r line; do
  group=\${line#?}
  case $line in
    +*) groups="$groups$group " ;;
    -*) case $groups in *" $group "*) groups="\${groups%%" $group "*} \${groups#*" $group "}" ;; esac ;;
  esac
done
for group in $groups; do kill -s KILL -- "-$group"; done
`;

/**
 * Sees to it that no process outlives this one, even if it is killed without warning: a tiny shell that waits for the end of
 * a pipe from here. The kernel closes the pipe, whatever happens to us.
 */
export class Reaper {
  readonly #groups = new Set<number>();
  #shell: ChildProcess;
  #pipe: Socket;
  #isClosed = false;

  constructor() {
    [this.#shell, this.#pipe] = this.#launch();
  }

  /**
   * To be handed to a child, which says `+` and its process group into it before it does anything else, and then closes
   * it. As long as it has not, the pipe has not ended: there is no moment in which a child is unknown.
   */
  get pipe(): Stream {
    return this.#pipe;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  add(group: number): void {
    this.#groups.add(group);
  }

  /** To be called as soon as a group is gone: its number will be given to another process. */
  remove(group: number): void {
    this.#groups.delete(group);
    if (!this.#isClosed) this.#pipe.write(`-${group}\n`);
  }

  /** Kills all groups. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    // From now on it is waited for.
    this.#shell.ref();
    const ended = once(this.#shell, 'exit');
    this.#pipe.end();
    await ended;
  }

  #launch(): [ChildProcess, Socket] {
    // In a session of its own: what the terminal sends to this program does not reach it.
    const shell = spawn('/bin/sh', ['-c', SCRIPT], { detached: true, stdio: ['pipe', 'ignore', 'ignore'], env: {} });
    const pipe = shell.stdin;
    if (!(pipe instanceof Socket)) throw new TypeError('the stdin of a child process is no pipe');
    shell.unref();
    pipe.unref();
    // It is gone then; the end of the shell tells the same.
    pipe.on('error', () => {});
    shell.once('exit', () => {
      if (this.#isClosed) return;
      // Somebody killed it: the next one learns of the groups that are known here.
      [this.#shell, this.#pipe] = this.#launch();
      for (const group of this.#groups) this.#pipe.write(`+${group}\n`);
    });
    return [shell, pipe];
  }
}
