/** What the real servers of the suites have in common: a script brings them, and they must not outlive who started them. */
import { execFile, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

export interface Server {
  /** Ends it at once, as a crash would. */
  kill(): Promise<void>;
}

export interface ServerOptions {
  /** For messages: `Kafka`. */
  readonly name: string;
  readonly program: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly logFile: string;
  readonly readyWithinMs: number;
  readonly isReady: () => boolean | Promise<boolean>;
}

/** Runs a script that brings what is not in the user's cache yet; resolves with the folder that it prints. */
export async function bring(name: string, script: string): Promise<string> {
  const running = promisify(execFile)(script);
  running.child.stderr?.pipe(process.stderr);
  try {
    return (await running).stdout.trim().split('\n').at(-1) ?? '';
  } catch (error) {
    const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : String(error);
    throw new Error(`The real ${name} could not be brought (${script}):\n${said}`, { cause: error });
  }
}

/** Resolves once it is ready; the error of one that never is has the end of its log. */
export async function startServer(options: ServerOptions): Promise<Server> {
  const { name, program, args, env = {}, logFile, readyWithinMs, isReady } = options;
  const log = openSync(logFile, 'w');
  const child = spawn(program, args, { stdio: ['ignore', log, log], env: { ...process.env, ...env } });
  closeSync(log);
  // A run that ends without `stop` (Ctrl-C, a crash) must not leave servers behind.
  const killWithParent = () => child.kill('SIGKILL');
  process.once('exit', killWithParent);
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  const kill = async () => {
    process.off('exit', killWithParent);
    child.kill('SIGKILL');
    await ended;
  };
  const deadline = performance.now() + readyWithinMs;
  while (!(await isReady())) {
    const hasEnded = child.exitCode !== null || child.signalCode !== null;
    if (hasEnded || performance.now() > deadline) {
      await kill();
      const what = hasEnded ? `ended with ${child.exitCode ?? child.signalCode}` : 'did not start in time';
      const said = readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-15).join('\n');
      throw new Error(`${name} ${what}:\n${said}`);
    }
    await sleep(50);
  }
  return { kill };
}

/** For a start script that is run by hand: says how to reach the server, and keeps it until Ctrl-C. */
export function keep(addresses: object, stop: () => Promise<void>): void {
  console.log(JSON.stringify(addresses, undefined, 2));
  console.error('Ctrl-C stops it');
  const end = async () => {
    await stop();
    process.exit(0);
  };
  process.once('SIGINT', () => void end());
  process.once('SIGTERM', () => void end());
}
