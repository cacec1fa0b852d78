import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type ProcessUse, useOf } from '../cluster/process-use.ts';
import type { PodServer, Subject } from './subject.ts';

const PROGRAM = join(import.meta.dirname, '../../polder');

/** `polder operator`, as it runs in a cluster. */
export class OperatorProcess {
  readonly #child: ChildProcess;
  readonly #pid: number;
  readonly #metrics: string;

  static async start(subject: Subject, kubeconfig: string, { resolve }: PodServer): Promise<OperatorProcess> {
    // What it loads is compiled and kept, as it is in an image: one that has to strip types first holds 30 MB more.
    // Without a cluster it ends when all is loaded.
    await promisify(execFile)(PROGRAM, ['operator', '--products', subject.product, '--kubeconfig', '/dev/null']).catch(
      () => {},
    );
    const config = `${kubeconfig}.operator.yaml`;
    writeFileSync(config, `resolve: ${JSON.stringify(resolve)}\n`);
    const metrics = `127.0.0.1:${await freePort()}`;
    const ports = ['--metrics-bind-address', metrics, '--health-probe-bind-address', ':0'];
    const args = ['operator', '--products', subject.product, '--kubeconfig', kubeconfig, '--config', config, ...ports];
    const env = { ...process.env, ...subject.env, LOG_LEVEL: 'warn' };
    const child = spawn(PROGRAM, args, { env, stdio: ['ignore', 'ignore', 'inherit'] });
    return new OperatorProcess(child, metrics);
  }

  private constructor(child: ChildProcess, metrics: string) {
    this.#child = child;
    this.#pid = child.pid ?? 0;
    this.#metrics = metrics;
    // A run that ends early must not leave it behind.
    process.once('exit', () => this.#child.kill('SIGKILL'));
  }

  get use(): ProcessUse {
    return useOf(this.#pid);
  }

  /** How many passes its controllers have made, by its own account. */
  async passes(): Promise<number> {
    const page = await (await fetch(`http://${this.#metrics}/metrics`)).text();
    const counts = page.matchAll(/^controller_runtime_reconcile_total\{.*\} (\d+)/gm);
    return counts.reduce((sum, [, count]) => sum + Number(count), 0);
  }

  /** The most memory that it ever held. */
  get peakRssMb(): number {
    const [, kilobytes = '0'] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${this.#pid}/status`, 'utf8')) ?? [];
    return Number(kilobytes) / 1024;
  }

  async stop(): Promise<void> {
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    const [code]: unknown[] = await ended;
    if (code !== 0) throw new Error(`the operator ended with ${String(code)}`);
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  return typeof address === 'object' && address ? address.port : 0;
}
