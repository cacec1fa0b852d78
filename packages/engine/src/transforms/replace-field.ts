import { EMPTY_OBJECT, type Json } from '../json/index.ts';
import { overObjects } from './document.ts';
import { move } from './move.ts';
import { pairOf } from './pair.ts';
import { Path } from './path.ts';
import { project } from './project.ts';
import { ConfigError, type Transform } from './transform.ts';

export interface ReplaceFieldConfig {
  /** `old:new`. */
  readonly renames?: readonly string[];
  /** Only these are kept, where they are. */
  readonly include?: readonly string[];
  /** These are not kept. */
  readonly exclude?: readonly string[];
}

/** First what is kept, by the names that the document came with, then the renames: as Kafka Connect's `ReplaceField`. */
export function replaceField({ renames = [], include = [], exclude = [] }: ReplaceFieldConfig): Transform {
  if (include.length > 0 && exclude.length > 0) throw new ConfigError('exclude', 'only one of include and exclude');
  if (renames.length + include.length + exclude.length === 0) {
    throw new ConfigError('renames', 'at least one of renames, include and exclude is required');
  }
  const included = include.map((field, index) => Path.compile(`include[${index}]`, field).segments);
  const excluded = exclude.map((field, index) => Path.compile(`exclude[${index}]`, field));
  const moves = renames.map((rename, index) => compileRename(`renames[${index}]`, rename));
  return overObjects((document) => {
    let changed: Json = included.length > 0 ? (project(document, included) ?? EMPTY_OBJECT) : document;
    for (const path of excluded) changed = path.remove(changed);
    for (const { from, to } of moves) changed = move(changed, from, to);
    return changed;
  });
}

function compileRename(field: string, rename: string): { readonly from: Path; readonly to: Path } {
  const pair = pairOf(rename);
  if (pair === undefined) throw new ConfigError(field, `invalid rename format: '${rename}' is not 'old:new'`);
  return { from: Path.compileSingle(field, pair[0]), to: Path.compileTarget(field, pair[1]) };
}
