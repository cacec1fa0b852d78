import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import type { KubernetesObject } from '@polder/kube';
import { LineCounter, parseAllDocuments } from 'yaml';

/** An object that somebody wrote down, and where. */
export interface Manifest {
  readonly object: KubernetesObject;
  /** `flow.yaml, line 12`: for messages. */
  readonly at: string;
}

const SUFFIXES = ['.yaml', '.yml', '.json'];

/** All objects of a file, or of the files in a folder in the order of their names. */
export async function readManifests(path: string): Promise<readonly Manifest[]> {
  const files = await filesAt(path);
  const manifests = await Promise.all(
    files.map(async (file) => parseManifests(await readFile(file, 'utf8'), basename(file))),
  );
  return manifests.flat();
}

async function filesAt(path: string): Promise<readonly string[]> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) throw new Error(`there is no file or folder ${path}`);
  if (!found.isDirectory()) return [path];
  const names = (await readdir(path)).filter((name) => SUFFIXES.includes(extname(name))).toSorted();
  if (names.length === 0) throw new Error(`the folder ${path} has no manifests (${SUFFIXES.join(', ')})`);
  return names.map((name) => join(path, name));
}

/** Fails with the first thing that is wrong, in one sentence. */
export function parseManifests(text: string, file: string): readonly Manifest[] {
  const lines = new LineCounter();
  const documents = parseAllDocuments(text, { lineCounter: lines, prettyErrors: false });
  if ('empty' in documents) return [];
  return documents.flatMap((document) => {
    const [error] = document.errors;
    const line = (offset: number) => `${file}, line ${lines.linePos(offset).line}`;
    if (error) throw new Error(`${line(error.pos[0])}: ${error.message}`);
    const value: unknown = document.toJS();
    if (value === null || value === undefined) return [];
    const at = line(document.contents?.range?.[0] ?? 0);
    return objectsIn(value).map((one) => ({ at, object: checked(one, at) }));
  });
}

function objectsIn(value: unknown): readonly unknown[] {
  if (typeof value !== 'object' || value === null || !('items' in value) || !Array.isArray(value.items)) return [value];
  return 'kind' in value && String(value.kind).endsWith('List') ? value.items : [value];
}

function checked(value: unknown, at: string): KubernetesObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error(`${at}: a manifest is an object with apiVersion, kind and metadata`);
  }
  const { apiVersion, kind, metadata }: { apiVersion?: unknown; kind?: unknown; metadata?: unknown } = value;
  const text = (field: string, found: unknown): string => {
    if (typeof found !== 'string' || found === '') throw new Error(`${at}: the manifest has no ${field}`);
    return found;
  };
  const type = { apiVersion: text('apiVersion', apiVersion), kind: text('kind', kind) };
  if (typeof metadata !== 'object' || metadata === null) throw new Error(`${at}: the manifest has no metadata`);
  const name = text('metadata.name', 'name' in metadata ? metadata.name : undefined);
  return { ...value, ...type, metadata: { ...metadata, name } };
}
