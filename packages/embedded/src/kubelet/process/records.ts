/**
 * Which processes were started, in a folder with a file for each, for the case that this program and its reaper are killed at the
 * same time: the next start kills what is left. A process is known by its number and the time of its start, because numbers are
 * used again.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

interface ProcessId {
  readonly pid: number;
  readonly started: string;
}

interface ProcessRecord extends ProcessId {
  /** Who started it, and takes care of it while it lives. */
  readonly owner: ProcessId;
}

export class ProcessRecords {
  readonly #folder: string;
  readonly #owner = idOf(process.pid);

  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  }

  /** At once, so that there is next to no time in which a process runs and is not recorded. */
  add(pid: number): void {
    const id = idOf(pid);
    if (id === undefined || this.#owner === undefined) return;
    const record: ProcessRecord = { ...id, owner: this.#owner };
    try {
      writeFileSync(this.#fileOf(pid), JSON.stringify(record), { mode: 0o600 });
    } catch {
      // The disk is full: the reaper still knows the process.
    }
  }

  remove(pid: number): void {
    try {
      rmSync(this.#fileOf(pid), { force: true });
    } catch {
      // It stays as the record of a process that is not there any more, for the next start to remove.
    }
  }

  /** Kills what others left that are dead themselves. Gives the process groups that were killed. */
  killLeftovers(): readonly number[] {
    const killed: number[] = [];
    for (const name of readdirSync(this.#folder)) {
      const record = recordIn(join(this.#folder, name));
      if (record !== undefined && isAlive(record.owner)) continue;
      if (record !== undefined && isAlive(record) && killGroup(record.pid)) killed.push(record.pid);
      rmSync(join(this.#folder, name), { force: true });
    }
    return killed;
  }

  #fileOf(pid: number): string {
    return join(this.#folder, `${pid}.json`);
  }
}

/** Undefined for the half of a record that a crash left. */
function recordIn(file: string): ProcessRecord | undefined {
  try {
    const record: ProcessRecord = JSON.parse(readFileSync(file, 'utf8'));
    return record;
  } catch {
    return undefined;
  }
}

function killGroup(group: number): boolean {
  try {
    return process.kill(-group, 'SIGKILL');
  } catch {
    return false;
  }
}

function isAlive({ pid, started }: ProcessId): boolean {
  return idOf(pid)?.started === started;
}

function idOf(pid: number): ProcessId | undefined {
  const started = process.platform === 'linux' ? startInProc(pid) : startFromPs(pid);
  return started === undefined ? undefined : { pid, started };
}

/** Ticks since the machine was started: only together with that start do they name a moment. */
function startInProc(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8');
    // The name of the program comes second, in parentheses, and may hold anything; the start is the 22nd field.
    const [state = 'X', ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return 'ZX'.includes(state) ? undefined : `${boot.trim()} ${fields[18]}`;
  } catch {
    return undefined;
  }
}

function startFromPs(pid: number): string | undefined {
  const options = { env: { LC_ALL: 'C', TZ: 'UTC' }, encoding: 'utf8' } as const;
  const { stdout } = spawnSync('/bin/ps', ['-o', 'lstart=', '-p', String(pid)], options);
  return stdout?.trim() || undefined;
}
