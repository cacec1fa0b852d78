import { open, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { CheckpointStore } from '@polder/engine';
import { messageOf } from '@polder/kube/log';

/** Keeps checkpoints in a file: a JSON object, replaced as a whole, so that a crash leaves the old one or the new one. */
export class CheckpointFile implements CheckpointStore {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  async load(key: string): Promise<unknown> {
    return (await this.#read())[key];
  }

  async save(key: string, checkpoint: unknown): Promise<void> {
    const all = { ...(await this.#read()), [key]: checkpoint };
    const next = `${this.#path}.next`;
    try {
      await written(next, `${JSON.stringify(all)}\n`);
      await rename(next, this.#path);
      // The new name is durable only with its folder.
      await synced(dirname(this.#path));
    } catch (error) {
      throw new Error(`cannot write the checkpoint ${this.#path}: ${messageOf(error)}`, { cause: error });
    }
  }

  async #read(): Promise<Readonly<Record<string, unknown>>> {
    let text: string;
    try {
      text = await readFile(this.#path, 'utf8');
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {};
      throw new Error(`cannot read the checkpoint ${this.#path}: ${messageOf(error)}`, { cause: error });
    }
    try {
      const all: unknown = JSON.parse(text);
      if (typeof all === 'object' && all !== null && !Array.isArray(all)) return { ...all };
    } catch {
      // Said below.
    }
    throw new Error(`${this.#path} is no checkpoint file; remove it to read from the beginning`);
  }
}

async function written(path: string, text: string): Promise<void> {
  const file = await open(path, 'w', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function synced(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
