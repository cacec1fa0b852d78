import { existsSync, readFileSync } from 'node:fs';
import type { JsonSchema } from '@polder/kube';
import { printJson } from '../exact-json.ts';

/**
 * The schemas of the built-in kinds by their OpenAPI names, a file per Go package. A file is read when one of its names
 * is first asked for: a server that only sees ConfigMaps never parses what a Pod is made of.
 */
class Definitions extends Map<string, JsonSchema> {
  readonly #read = new Set<string>();

  override get(name: string): JsonSchema | undefined {
    const packageName = name.slice(0, name.lastIndexOf('.'));
    if (!this.#read.has(packageName)) this.#readPackage(packageName);
    return super.get(name);
  }

  #readPackage(packageName: string): void {
    this.#read.add(packageName);
    const file = new URL(`./${packageName}.json`, import.meta.url);
    if (!/^[\w.-]+$/.test(packageName) || !existsSync(file)) return;
    const schemas: Readonly<Record<string, JsonSchema>> = JSON.parse(readFileSync(file, 'utf8'));
    for (const [name, schema] of Object.entries(schemas)) this.set(name, schema);
  }
}

export const definitions: ReadonlyMap<string, JsonSchema> = new Definitions();

const PREFIX = '#/components/schemas/';

export const refTo = (name: string): JsonSchema => ({ $ref: `${PREFIX}${name}` });

/** The schemas that a document needs: `schemas`, and of the built-in ones all that these and `others` refer to. */
export function withReferences(
  schemas: ReadonlyMap<string, JsonSchema>,
  others: readonly JsonSchema[],
): Readonly<Record<string, JsonSchema>> {
  const found = new Map(schemas);
  const visit = (schema: JsonSchema) => {
    for (const [, name = ''] of printJson(schema).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)) {
      const target = found.has(name) ? undefined : definitions.get(name);
      if (!target) continue;
      found.set(name, target);
      visit(target);
    }
  };
  for (const schema of [...schemas.values(), ...others]) visit(schema);
  return Object.fromEntries([...found].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
