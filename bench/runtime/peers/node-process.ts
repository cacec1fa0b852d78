/** What the peers that run on Node share: their side of the lines, and how a process measures itself. */
import { readFileSync } from 'node:fs';
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Report } from '../peer.ts';
import { MARK } from '../pods.ts';

export function report(line: Report): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

export function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/** What it costs to fill a cache; begun before the first request and ended once everything is there. */
export class SyncMeter {
  readonly #startCpu = cpuSeconds();
  readonly #delay: IntervalHistogram = monitorEventLoopDelay({ resolution: 1 });

  constructor() {
    this.#delay.enable();
  }

  async synced(objects: number): Promise<void> {
    const syncCpuSeconds = cpuSeconds() - this.#startCpu;
    this.#delay.disable();
    await collectGarbage();
    report({
      report: 'synced',
      objects,
      startCpuSeconds: this.#startCpu,
      syncCpuSeconds,
      stallMs: this.#delay.max / 1e6,
      rssMb: memoryMb('VmRSS'),
      peakRssMb: memoryMb('VmHWM'),
    });
  }
}

/** Counts changes, or waits for one that carries a mark; one thing at a time, as the harness asks for it. */
export class Watcher {
  #left = 0;
  #mark: string | undefined;
  #then: () => void = () => {};

  saw(annotations: Readonly<Record<string, string>> | undefined): void {
    if (this.#left > 0 && --this.#left === 0) this.#then();
    if (this.#mark !== undefined && annotations?.[MARK] === this.#mark) {
      this.#mark = undefined;
      this.#then();
    }
  }

  /** Follows the harness until it ends the process; `others` carries out what only this peer can. */
  async obey(others: Readonly<Record<string, (argument: string) => Promise<void>>> = {}): Promise<void> {
    for await (const line of createInterface({ input: process.stdin })) {
      const [command = '', argument = ''] = line.split(' ');
      if (command === 'events') {
        const before = cpuSeconds();
        this.#left = Number(argument);
        this.#then = () => report({ report: 'events', cpuSeconds: cpuSeconds() - before });
        report({ report: 'ready' });
      } else if (command === 'see') {
        this.#mark = argument;
        this.#then = () => report({ report: 'seen' });
        report({ report: 'ready' });
      } else {
        await others[command]?.(argument);
      }
    }
    // The harness is gone, and an open watch would keep this process alive for ever.
    process.exit();
  }
}

/** Twice, because the first collection finds what finalizers let go; then the engine gives pages back in the background. */
async function collectGarbage(): Promise<void> {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect !== 'function') throw new Error('this Node can not be asked to collect garbage');
  for (let times = 0; times < 2; times++) {
    collect();
    await sleep(250);
  }
}

function memoryMb(field: 'VmRSS' | 'VmHWM'): number {
  const kb = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
  if (kb === undefined) throw new Error(`no ${field} in /proc/self/status`);
  return Number(kb) / 1024;
}
