import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ProcessUse, useOf } from '../cluster/process-use.ts';

const PROGRAM = join(import.meta.dirname, '../../polder');

/** `polder operator`, as it runs in a cluster. Processors are where `processors` says, all of them. */
export class OperatorProcess {
  readonly #child: ChildProcess;
  readonly #pid: number;

  constructor(kubeconfig: string, processors: string) {
    const config = `${kubeconfig}.operator.yaml`;
    writeFileSync(config, `resolve: {"*:9090": "${processors}"}\n`);
    const anyPort = ['--metrics-bind-address', ':0', '--health-probe-bind-address', ':0'];
    const args = ['operator', '--products', 'dataflow', '--kubeconfig', kubeconfig, '--config', config, ...anyPort];
    const env = { ...process.env, PROCESSOR_IMAGE: 'example.com/processor:1', LOG_LEVEL: 'warn' };
    this.#child = spawn(PROGRAM, args, { env, stdio: ['ignore', 'ignore', 'inherit'] });
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
