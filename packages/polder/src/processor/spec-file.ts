import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describeErrors, type FlowSpec, joinSecrets, normalise } from '@polder/engine/spec';
import { messageOf } from '@polder/kube/log';

export interface GivenFlow {
  readonly spec: FlowSpec;
  readonly warnings: readonly string[];
}

/** The spec of a flow, joined with the `secrets.json` beside it: a map from where a value belongs (`/sink/kafka/topic`) to the value. */
export async function readSpec(path: string): Promise<GivenFlow> {
  const given = parsed(path, await textOf(path));
  const secretsPath = join(dirname(path), 'secrets.json');
  const secrets = await textOf(secretsPath, { orElse: '{}' });
  const normalised = normalise(joinSecrets(given, secretsIn(secretsPath, secrets)));
  if (!normalised.isValid) throw new Error(`the spec ${path} is invalid: ${describeErrors(normalised.errors)}`);
  return normalised;
}

async function textOf(path: string, { orElse }: { readonly orElse?: string } = {}): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    if (isMissing && orElse !== undefined) return orElse;
    throw new Error(`cannot read ${path}: ${isMissing ? 'there is no such file' : messageOf(error)}`, { cause: error });
  }
}

/** What the parser says quotes the text, and that may be a secret. */
function parsed(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${path} is no valid JSON`);
  }
}

function secretsIn(path: string, text: string): ReadonlyMap<string, string> {
  const given = parsed(path, text);
  const entries: [string, unknown][] = typeof given === 'object' && given !== null ? Object.entries(given) : [];
  const isTexts = (all: [string, unknown][]): all is [string, string][] =>
    !Array.isArray(given) && all.every(([, value]) => typeof value === 'string');
  if (!isTexts(entries)) throw new Error(`${path} is not an object of texts`);
  return new Map(entries);
}
