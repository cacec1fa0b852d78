import { readdirSync, readFileSync } from 'node:fs';

/** What processes have used so far, and hold now. */
export interface ProcessUse {
  readonly cpuSeconds: number;
  readonly rssMb: number;
}

export function useOfThis(): ProcessUse {
  const { user, system } = process.cpuUsage();
  return { cpuSeconds: (user + system) / 1e6, rssMb: process.memoryUsage.rss() / 2 ** 20 };
}

/** All processes that this one has started. */
export function useOfChildren(): ProcessUse {
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => statOf(pid))
    .filter(({ parent }) => parent === process.pid);
  return sumOf(children);
}

/** Nothing, if the process has ended. */
export function useOf(pid: number): ProcessUse {
  return sumOf(statOf(String(pid)));
}

interface Stat {
  readonly parent: number;
  readonly ticks: number;
  readonly pages: number;
}

function sumOf(processes: readonly Stat[]): ProcessUse {
  return {
    cpuSeconds: processes.reduce((sum, { ticks }) => sum + ticks / 100, 0),
    rssMb: processes.reduce((sum, { pages }) => sum + (pages * 4096) / 2 ** 20, 0),
  };
}

/** Linux keeps the books below /proc, in ticks and pages. */
function statOf(pid: string): readonly Stat[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name of the program comes second, in parentheses, and may hold anything.
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const [, parent = 0] = fields;
    return [{ parent, ticks: (fields[11] ?? 0) + (fields[12] ?? 0), pages: fields[21] ?? 0 }];
  } catch {
    return []; // it ended meanwhile
  }
}
