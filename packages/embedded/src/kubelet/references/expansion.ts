const REFERENCE = /\$(?:\$|\(([^)]*)\))/g;

/** Replaces `$(NAME)` by its value; `$$` is a dollar, and all else stays as it is. */
export function expand(text: string, valueOf: (name: string) => string): string {
  return text.replace(REFERENCE, (_, name: string | undefined) => (name === undefined ? '$' : valueOf(name)));
}

/** A name that is not known stays as it was written. */
export function expandKnown(text: string, known: ReadonlyMap<string, string>): string {
  return expand(text, (name) => known.get(name) ?? `$(${name})`);
}
