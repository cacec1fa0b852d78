import type { ConfigMap, DownwardAPIVolumeFile, KeyToPath, Pod, Secret, VolumeProjection } from '@polder/kube';
import type { VolumeFile } from '../runner.ts';
import { containerResource, podField, UnresolvedReference } from './pod-fields.ts';
import type { Facts, References } from './references.ts';

/** Path in the volume → file. */
export type Files = ReadonlyMap<string, VolumeFile>;

interface Keys {
  readonly items?: readonly KeyToPath[];
  readonly optional?: boolean;
}

export function configMapFiles(configMap: ConfigMap | undefined, name: string, keys: Keys, mode: number): Files {
  if (configMap === undefined && !keys.optional) throw new UnresolvedReference(`configmap ${quoted(name)} not found`);
  const contents = new Map<string, Buffer>();
  for (const [key, text] of Object.entries(configMap?.data ?? {})) contents.set(key, Buffer.from(text));
  for (const [key, base64] of Object.entries(configMap?.binaryData ?? {})) contents.set(key, fromBase64(base64));
  return chosen(contents, keys, mode, 'configmap references non-existent config key');
}

export function secretFiles(secret: Secret | undefined, name: string, keys: Keys, mode: number): Files {
  if (secret === undefined && !keys.optional) throw new UnresolvedReference(`secret ${quoted(name)} not found`);
  const contents = new Map(Object.entries(secret?.data ?? {}).map(([key, base64]) => [key, fromBase64(base64)]));
  return chosen(contents, keys, mode, 'references non-existent secret key');
}

function chosen(
  contents: ReadonlyMap<string, Buffer>,
  { items = [], optional = false }: Keys,
  defaultMode: number,
  problem: string,
): Files {
  const files = new Map<string, VolumeFile>();
  if (items.length === 0) for (const [key, bytes] of contents) files.set(safePath(key), { bytes, mode: defaultMode });
  for (const { key, path, mode = defaultMode } of items) {
    const bytes = contents.get(key);
    if (bytes !== undefined) files.set(safePath(path), { bytes, mode });
    else if (!optional) throw new UnresolvedReference(`${problem}: ${key}`);
  }
  return files;
}

export function downwardFiles(
  pod: Pod,
  items: readonly DownwardAPIVolumeFile[] = [],
  defaultMode: number,
  facts: Facts,
): Files {
  return new Map(
    items.map(({ path, fieldRef, resourceFieldRef, mode = defaultMode }) => {
      const text = fieldRef
        ? podField(pod, fieldRef.fieldPath, facts)
        : resourceFieldRef
          ? containerResource(pod, undefined, resourceFieldRef, facts)
          : '';
      return [safePath(path), { bytes: Buffer.from(text), mode }];
    }),
  );
}

/** Later sources win where paths meet; every source that fails is named. */
export function projectedFiles(
  pod: Pod,
  sources: readonly VolumeProjection[] = [],
  mode: number,
  references: References,
  facts: Facts,
): Files {
  const files = new Map<string, VolumeFile>();
  const problems: string[] = [];
  for (const source of sources) {
    try {
      for (const [path, file] of sourceFiles(pod, source, mode, references, facts)) files.set(path, file);
    } catch (error) {
      if (!(error instanceof UnresolvedReference)) throw error;
      problems.push(error.message);
    }
  }
  const [only, ...others] = new Set(problems);
  if (only === undefined) return files;
  throw new UnresolvedReference(others.length === 0 ? only : `[${[only, ...others].join(', ')}]`);
}

function sourceFiles(
  pod: Pod,
  source: VolumeProjection,
  mode: number,
  { configMaps, secrets }: References,
  facts: Facts,
): Files {
  const { configMap, secret, downwardAPI } = source;
  if (configMap) return configMapFiles(configMaps.get(configMap.name ?? ''), configMap.name ?? '', configMap, mode);
  if (secret) return secretFiles(secrets.get(secret.name ?? ''), secret.name ?? '', secret, mode);
  if (downwardAPI) return downwardFiles(pod, downwardAPI.items, mode, facts);
  throw new UnresolvedReference(`projected source ${Object.keys(source).join()} is not supported`);
}

const LONGEST_PATH = 4096;
const LONGEST_NAME = 255;

/** A file stays inside its volume, and away from the names that atomic updates use. */
function safePath(path: string): string {
  const names = path.split('/');
  const refuse = (rule: string) => new UnresolvedReference(`invalid path: ${rule}`);
  if (path === '') throw refuse('must not be empty: ""');
  if (path.startsWith('/')) throw refuse(`must be relative path: ${path}`);
  if (path.length > LONGEST_PATH) throw refuse(`must be less than or equal to ${LONGEST_PATH} characters`);
  if (names.includes('..')) throw refuse(`must not contain '..': ${path}`);
  if (names.some(({ length }) => length > LONGEST_NAME)) {
    throw refuse(`filenames must be less than or equal to ${LONGEST_NAME} characters`);
  }
  if (path.startsWith('..')) throw refuse(`must not start with '..': ${path}`);
  return names.filter((name) => name !== '' && name !== '.').join('/');
}

const quoted = (name: string) => JSON.stringify(name);
const fromBase64 = (text: string) => Buffer.from(text, 'base64');
