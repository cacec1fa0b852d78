/** `polder processor` as a pod runs it: started, asked, killed and started again. */
import { once } from 'node:events';
import { request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CHECKOUT, type Started, type Workplace } from './program.ts';

export interface ProcessorOptions {
  readonly name?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts one, with a spec of its own. */
export function startProcessor(place: Workplace, spec: object, options: ProcessorOptions = {}): Started {
  const { name = 'orders', args = [], env = {} } = options;
  const path = place.write(`${name}.json`, JSON.stringify(spec));
  const variables = Object.entries(env).map(([variable, value]) => `${variable}=${value}`);
  const command = [join(CHECKOUT, 'polder'), 'processor', '--spec-path', path, '--name', name];
  return place.run('env', ...variables, ...command, '--metrics-bind-address', '127.0.0.1:0', ...args);
}

export const ended = async ({ exit, said }: Started) => ({ code: await exit, ...said });

/** Tells it to stop, as a kubelet does. Resolves with its exit code. */
export function stopped({ child, exit }: Started): Promise<unknown> {
  child.kill('SIGTERM');
  return exit;
}

export interface Answer {
  readonly status: number | undefined;
  readonly text: string;
}

/** What the server of the processor answers. */
export async function asked({ said }: Started, path: string): Promise<Answer> {
  const port = /"port":(\d+)/.exec(said.out)?.[1];
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      answer.on('end', () => resolve({ status: answer.statusCode, text }));
      answer.on('error', reject);
    })
      .on('error', reject)
      .end();
  });
}

/** The sum of a counter over all its labels, or those that have these. 0 while there is nobody to ask. */
export async function counted(processor: Started, name: string, labels = ''): Promise<number> {
  const text = await asked(processor, '/metrics').then(
    (answer) => answer.text,
    () => '',
  );
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) && line.includes(labels))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}

/** How many partitions of a topic it was given last. */
export function partitionsOf({ said }: Started): number {
  const last = said.out.split('\n').findLast((line) => line.includes('partitions assigned'));
  const { partitions = [] }: { partitions?: readonly number[] } = JSON.parse(last ?? '{}');
  return partitions.length;
}

const BACK_OFF_MS = 3_000;

/** Keeps a processor running, as a Deployment does: one that dies is started again, until it is to stop. */
export class Deployment {
  readonly #start: () => Started;
  #current: Started;
  #isStopping = false;

  constructor(start: () => Started) {
    this.#start = start;
    this.#current = start();
    void this.#keep();
  }

  get current(): Started {
    return this.#current;
  }

  /** Resolves when the next one is started. */
  async kill(): Promise<void> {
    const { child } = this.#current;
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    while (this.#current.child === child) await new Promise((resolve) => setImmediate(resolve));
  }

  /** With its exit code. Not before it hears: what is ended while it is loaded has no say in how. */
  async stop(): Promise<unknown> {
    while (!this.#current.said.out.includes('"msg":"starting"')) await sleep(10);
    this.#isStopping = true;
    return stopped(this.#current);
  }

  /** What dies from now on stays dead. */
  abandon(): void {
    this.#isStopping = true;
  }

  async #keep(): Promise<void> {
    while (!this.#isStopping) {
      const code = await this.#current.exit;
      // One that ends by itself is not started again at once: what it needs is missing, and wants the processor's share too.
      if (code !== null) await sleep(BACK_OFF_MS);
      if (this.#isStopping) return;
      this.#current = this.#start();
    }
  }
}
