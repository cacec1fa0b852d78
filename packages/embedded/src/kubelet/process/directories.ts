import { chmod, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pod } from '@polder/kube';
import type { Volume } from '../runner.ts';

/** Where everything is, below one folder. */
export class Directories {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Records of the processes that run. */
  get processes(): string {
    return join(this.#folder, 'processes');
  }

  pod({ metadata }: Pod): string {
    return this.#podOf(metadata.uid ?? '');
  }

  container(podUid: string, name: string): string {
    return join(this.#podOf(podUid), 'containers', name);
  }

  /** A claim outlives the pods that use it, and its name can come again: only with that of its volume does it mean one thing. */
  volume(pod: Pod, volume: Volume): string {
    switch (volume.is) {
      case 'host':
        return volume.path;
      case 'claim': {
        const { namespace, name, volumeName } = volume.claim;
        return join(this.#folder, 'claims', `${namespace}_${name}_${volumeName}`);
      }
      case 'files':
      case 'empty':
        return join(this.pod(pod), 'volumes', volume.name);
    }
  }

  #podOf(uid: string): string {
    return join(this.#folder, 'pods', uid);
  }
}

/** Removes a directory with all that is in it, also with directories that a program has closed even to its own user. */
export async function removeTree(directory: string): Promise<void> {
  try {
    await rm(directory, { recursive: true, force: true });
  } catch {
    await open(directory);
    await rm(directory, { recursive: true, force: true });
  }
}

async function open(directory: string): Promise<void> {
  await chmod(directory, 0o700);
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    if (entry.isDirectory()) await open(join(directory, entry.name));
  }
}
