import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ProcessUse, useOf } from '../cluster/process-use.ts';
import type { PodServer, Subject } from './subject.ts';

const PROGRAM = join(import.meta.dirname, '../../polder');

/** `polder operator`, as it runs in a cluster. */
export class OperatorProcess {
  readonly #child: ChildProcess;
  readonly #pid: number;

  constructor(subject: Pick<Subject, 'product' | 'env'>, kubeconfig: string, { resolve }: PodServer) {
    const config = `${kubeconfig}.operator.yaml`;
    writeFileSync(config, `resolve: ${JSON.stringify(resolve)}\n`);
    const anyPort = ['--metrics-bind-address', ':0', '--health-probe-bind-address', ':0'];
    const args = ['operator', '--products', subject.product, '--kubeconfig', kubeconfig, '--config', config];
    const env = { ...process.env, ...subject.env, LOG_LEVEL: process.env['LOG_LEVEL'] ?? 'warn' };
    this.#child = spawn(PROGRAM, [...args, ...anyPort], { env, stdio: ['ignore', 'ignore', 'inherit'] });
    this.#pid = this.#child.pid ?? 0;
    // A run that ends early must not leave it behind.
    process.once('exit', () => this.#child.kill('SIGKILL'));
  }

  get use(): ProcessUse {
    return useOf(this.#pid);
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
