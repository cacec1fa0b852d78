import { posix } from 'node:path';

/** A path as the container knows it, and where it is. */
export interface Mount {
  readonly path: string;
  readonly directory: string;
}

/** Characters of names: before a path they mean that it is the tail of another one, behind it that the name goes on. */
const NAME = String.raw`[\p{L}\p{N}_.+~%@-]`;
/** A path begins here: not inside another one, be it written out or the value of `$HOME` or `$(pwd)`. `file://` may precede. */
const BEGIN = String.raw`(?<!${NAME}|[})*]|(?<!:\/)\/)`;
const END = String.raw`(?!${NAME})`;

/**
 * Nothing can be mounted without being root, so a container's paths are replaced where it hears of them: every mention of
 * a mount path in a text, alone or with more behind it, becomes the place where the volume is. Of two that fit the longer one
 * counts, as with mounts.
 */
export function relocation(mounts: readonly Mount[]): (text: string) => string {
  if (mounts.length === 0) return (text) => text;
  const places = new Map(mounts.map(({ path, directory }) => [path, directory]));
  const paths = [...places.keys()].toSorted((a, b) => b.length - a.length).map((path) => RegExp.escape(path));
  const mention = new RegExp(`${BEGIN}(?:${paths.join('|')})${END}`, 'gu');
  return (text) => text.replace(mention, (path) => places.get(path) ?? path);
}

/** `/etc/x/` and `etc/x` are `/etc/x`. */
export const mountPath = (path: string) => posix.resolve('/', path);
