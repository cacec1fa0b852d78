/**
 * A volume of files that changes all at once, laid out as the real kubelet does, because programs know and use it: the files
 * are in a directory with a time in its name, `..data` is a link to it, and every visible name is a link through `..data`. An
 * update writes a new directory and then swaps `..data` by a rename, which nobody can see half done.
 */
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Clock } from '@polder/kube';
import type { VolumeFile } from '../runner.ts';

const DATA = '..data';
const NEW_DATA = '..data_tmp';

type Files = ReadonlyMap<string, VolumeFile>;

/** Writes nothing when the volume holds just these files already. */
export async function writeFiles(volume: string, files: Files, clock: Clock): Promise<void> {
  await mkdir(volume, { recursive: true, mode: 0o700 });
  const current = await readlink(join(volume, DATA)).catch(() => undefined);
  if (current === undefined || !(await holds(join(volume, current), files))) await swap(volume, files, clock);
  await showNames(volume, files);
  await removeOldData(volume);
}

async function swap(volume: string, files: Files, clock: Clock): Promise<void> {
  const time = new Date(clock.now()).toISOString().slice(0, 19).replaceAll(/[-T:]/g, '_');
  const data = await mkdtemp(join(volume, `..${time}.`));
  for (const [path, { bytes, mode }] of files) {
    const file = join(data, path);
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await writeFile(file, bytes, { mode: 0o600 });
    // All pods run as the same user: no one else is to read their files, whatever the pod says.
    await chmod(file, ownerOnly(mode));
  }
  // From a swap that was interrupted.
  await rm(join(volume, NEW_DATA), { force: true });
  await symlink(basename(data), join(volume, NEW_DATA));
  await rename(join(volume, NEW_DATA), join(volume, DATA));
}

const ownerOnly = (mode: number) => mode & 0o700;

async function holds(data: string, files: Files): Promise<boolean> {
  const found = await readdir(data, { recursive: true, withFileTypes: true }).catch(() => []);
  if (found.filter((entry) => entry.isFile()).length !== files.size) return false;
  const same = await Promise.all(
    [...files].map(async ([path, { bytes, mode }]) => {
      const file = join(data, path);
      // A file that can't be read is written anew.
      const content = await readFile(file).catch(() => undefined);
      return content?.equals(bytes) === true && ((await stat(file)).mode & 0o777) === ownerOnly(mode);
    }),
  );
  return same.every(Boolean);
}

/** Makes the links that are missing and takes away those that lead nowhere now. */
async function showNames(volume: string, files: Files): Promise<void> {
  const wanted = new Set([...files.keys()].map((path) => path.split('/')[0] ?? ''));
  const there = new Set((await readdir(volume)).filter((name) => !name.startsWith('..')));
  for (const name of wanted.difference(there)) await symlink(join(DATA, name), join(volume, name));
  for (const name of there.difference(wanted)) await rm(join(volume, name), { recursive: true, force: true });
}

async function removeOldData(volume: string): Promise<void> {
  const current = await readlink(join(volume, DATA));
  for (const name of await readdir(volume)) {
    const isOld = name.startsWith('..') && name !== DATA && name !== current;
    if (isOld) await rm(join(volume, name), { recursive: true, force: true });
  }
}
