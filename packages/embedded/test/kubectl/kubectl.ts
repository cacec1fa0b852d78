import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly stdin?: string | undefined;
  readonly env?: Readonly<Record<string, string>>;
}

/** The real kubectl on one cluster, in a home of its own, so that nothing of the user's leaks in. */
export class Kubectl implements AsyncDisposable {
  readonly namespace: string;
  readonly home: string;
  readonly #program: string;
  readonly #kubeconfig: string;
  readonly #started: ChildProcess[] = [];

  private constructor(program: string, kubeconfig: string, namespace: string) {
    this.#program = program;
    this.#kubeconfig = kubeconfig;
    this.namespace = namespace;
    this.home = mkdtempSync(join(tmpdir(), 'polder-kubectl-'));
  }

  /** In a fresh namespace. */
  static async open(program: string, kubeconfig: string): Promise<Kubectl> {
    const kubectl = new Kubectl(program, kubeconfig, `kubectl-${randomBytes(4).toString('hex')}`);
    try {
      await kubectl.creates({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: kubectl.namespace } });
      return kubectl;
    } catch (error) {
      await kubectl[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Runs to the end, whatever that is. */
  async run(args: readonly string[], options: RunOptions = {}): Promise<Outcome> {
    return this.start(args, options).ended;
  }

  /** What it prints; anything but success ends the case with what it printed instead. */
  async says(args: readonly string[], options: RunOptions = {}): Promise<string> {
    const { code, stdout, stderr } = await this.run(args, options);
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')} ended with ${code}: ${stderr || stdout}`);
    return stdout;
  }

  /** The words of each line it prints, for tables. */
  async rows(args: readonly string[]): Promise<string[][]> {
    const text = await this.says(args);
    return text
      .trimEnd()
      .split('\n')
      .map((line) => line.trim().split(/\s{2,}/));
  }

  /** What it complains about. */
  async complains(args: readonly string[], options: RunOptions = {}): Promise<string> {
    const { code, stdout, stderr } = await this.run(args, options);
    if (code === 0) throw new Error(`kubectl ${args.join(' ')} was expected to fail, but printed: ${stdout}`);
    return stderr;
  }

  /** For the steps that only prepare a case. */
  async creates(object: unknown): Promise<void> {
    await this.says(['create', '-f', '-'], { stdin: JSON.stringify(object) });
  }

  /** For what runs on: watches, waits. */
  start(args: readonly string[], options: RunOptions = {}): Running {
    const child = spawn(this.#program, ['--namespace', this.namespace, ...args], {
      cwd: this.home,
      env: { PATH: process.env['PATH'], HOME: this.home, KUBECONFIG: this.#kubeconfig, ...options.env },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.#started.push(child);
    child.stdin.end(options.stdin ?? '');
    return new Running(child);
  }

  /** A file in its home, with one or more objects. */
  file(name: string, ...objects: readonly unknown[]): string {
    const path = join(this.home, name);
    writeFileSync(path, objects.map((object) => `---\n${JSON.stringify(object)}\n`).join(''));
    return path;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#started) child.kill('SIGKILL');
    rmSync(this.home, { recursive: true, force: true, maxRetries: 5 });
  }
}

export class Running {
  readonly ended: Promise<Outcome>;
  readonly #child: ChildProcess;
  #stdout = '';
  #stderr = '';
  #heard = () => {};

  constructor(child: ChildProcess) {
    this.#child = child;
    child.stdout?.on('data', (part: Buffer) => {
      this.#stdout += part.toString();
      this.#heard();
    });
    child.stderr?.on('data', (part: Buffer) => {
      this.#stderr += part.toString();
      this.#heard();
    });
    this.ended = new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => resolve({ code, stdout: this.#stdout, stderr: this.#stderr }));
    });
  }

  /** Waits until it has printed this. */
  prints(pattern: RegExp): Promise<void> {
    return this.#says(pattern, () => this.#stdout);
  }

  /** Waits until it has printed this as a complaint. */
  complains(pattern: RegExp): Promise<void> {
    return this.#says(pattern, () => this.#stderr);
  }

  async #says(pattern: RegExp, printed: () => string): Promise<void> {
    const heard = new Promise<void>((resolve) => {
      this.#heard = () => {
        if (pattern.test(printed())) resolve();
      };
      this.#heard();
    });
    const ending = async () => {
      const { stdout, stderr } = await this.ended;
      if (!pattern.test(printed())) throw new Error(`ended without printing ${pattern}: ${stdout}${stderr}`);
    };
    await Promise.race([heard, ending()]);
  }

  async stop(): Promise<Outcome> {
    this.#child.kill('SIGINT');
    return this.ended;
  }
}
