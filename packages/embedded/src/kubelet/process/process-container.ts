import { type Logger, messageOf, type Probe } from '@polder/kube';
import type { ContainerLogs } from '../logs/index.ts';
import { ask } from '../probes/index.ts';
import { type Ending, type Launch, type ProbeAnswer, type RunningContainer, StartFailure } from '../runner.ts';
import type { ContainerSetup } from './container-setup.ts';
import { type Exit, type GroupOptions, type Output, ProcessGroup } from './process-group.ts';
import { type Program, problemWith } from './program.ts';
import { terminationMessage } from './termination-message.ts';

export interface ContainerOptions extends GroupOptions {
  readonly launch: Launch;
  readonly setup: ContainerSetup;
  /** The container's own. */
  readonly directory: string;
  readonly logs: ContainerLogs;
  readonly log: Logger;
}

/** What containerd says of a container that could not be started. */
const START_ERROR = 128;
/** Of what a command says. */
const MOST_OUTPUT = 1024 * 1024;

/** One run of a container as a process. */
export class ProcessContainer implements RunningContainer {
  readonly startedAt: number;
  readonly ended: Promise<Ending>;
  readonly #options: ContainerOptions;
  readonly #main: ProcessGroup;
  readonly #commands = new Set<ProcessGroup>();
  #isOver = false;

  static async start(options: ContainerOptions): Promise<ProcessContainer> {
    const { launch, setup, directory, logs } = options;
    const problem = await problemWith(setup.program);
    if (problem !== undefined) throw startFailure(problem);
    try {
      logs.begin(directory, launch.restartCount);
      return new ProcessContainer(options, await ProcessGroup.start(setup.program, logOutput(options), options));
    } catch (error) {
      await logs.end(directory, launch.restartCount);
      throw startFailure(problemOfSpawn(error, setup.program), error);
    }
  }

  private constructor(options: ContainerOptions, main: ProcessGroup) {
    this.#options = options;
    this.#main = main;
    this.startedAt = options.clock.now();
    this.ended = this.#end();
  }

  terminate(): void {
    this.#main.signal('SIGTERM');
  }

  kill(): void {
    this.#main.signal('SIGKILL');
  }

  probe(probe: Probe, signal: AbortSignal): Promise<ProbeAnswer> {
    const { container, address } = this.#options.launch;
    const exec = (command: readonly string[]) => this.exec(command, signal);
    return ask(probe, { container, address, exec }, signal);
  }

  async exec(
    command: readonly string[],
    signal: AbortSignal,
  ): Promise<{ readonly exitCode: number; readonly output: string }> {
    const { setup } = this.#options;
    const program = { ...setup.program, words: setup.relocate(command) };
    const problem = this.#isOver ? 'container is not running' : await problemWith(program);
    if (problem !== undefined) throw new Error(problem);
    signal.throwIfAborted();
    let output = Buffer.alloc(0);
    const take: Output = async (_, piece) => {
      if (output.length < MOST_OUTPUT) output = Buffer.concat([output, piece]);
    };
    const group = await ProcessGroup.start(program, take, this.#options, { joinsOutputs: true });
    this.#commands.add(group);
    const stop = () => group.signal('SIGKILL');
    signal.addEventListener('abort', stop);
    if (signal.aborted || this.#isOver) stop();
    const { exitCode } = await group.ended;
    signal.removeEventListener('abort', stop);
    this.#commands.delete(group);
    signal.throwIfAborted();
    return { exitCode, output: output.toString() };
  }

  async #end(): Promise<Ending> {
    const exit = await this.#main.ended;
    const at = this.#options.clock.now();
    this.#isOver = true;
    // A container's end is the end of all that runs in it.
    for (const command of this.#commands) command.signal('SIGKILL');
    const message = await this.#lastWords(exit);
    return { ...exit, at, ...(message !== undefined && { message }) };
  }

  async #lastWords({ exitCode }: Exit): Promise<string | undefined> {
    const { launch, setup, directory, logs, log } = this.#options;
    const { container, restartCount } = launch;
    try {
      await logs.end(directory, restartCount);
      return await terminationMessage(container, setup.terminationLog, exitCode, (tailLines) =>
        logs.tail(directory, restartCount, tailLines),
      );
    } catch (error) {
      log.warn(
        { container: container.name, error: messageOf(error) },
        'the last words of a container could not be read',
      );
      return undefined;
    }
  }
}

/** A log that can't be written (a full disk) must not stop the container: what it says meanwhile is lost. */
function logOutput({ logs, log, directory, launch: { container, restartCount } }: ContainerOptions): Output {
  let isFailing = false;
  return async (stream, piece) => {
    try {
      await logs.write(directory, restartCount, stream, piece);
      isFailing = false;
    } catch (error) {
      const fields = { container: container.name, error: messageOf(error) };
      if (!isFailing) log.warn(fields, 'the log of a container can not be written: what it says is lost');
      isFailing = true;
    }
  };
}

function startFailure(message: string, cause?: unknown): StartFailure {
  return new StartFailure('RunContainerError', message, { cause, exitCode: START_ERROR });
}

/** The program was there a moment ago; that the shell was not found means that its directory is not there. */
function problemOfSpawn(error: unknown, { directory, words }: Program): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT') return `chdir to cwd (${JSON.stringify(directory)}) failed: no such file or directory`;
  if (code === 'E2BIG') return `exec: ${JSON.stringify(words[0])}: argument list too long`;
  return messageOf(error);
}
