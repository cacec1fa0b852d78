/** `left:right`, as renames and mappings are written. A colon that begins a segment, or is escaped, belongs to its path. */
export function pairOf(text: string): readonly [string, string] | undefined {
  const at = text.search(/(?<=[^.\\]):/);
  const [left, right] = [text.slice(0, at).trim(), text.slice(at + 1).trim()];
  return at === -1 || left === '' || right === '' ? undefined : [left, right];
}
