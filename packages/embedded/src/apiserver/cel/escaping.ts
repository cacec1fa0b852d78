/** Words that CEL keeps for itself: a property of that name is written `__namespace__`. */
const RESERVED: ReadonlySet<string> = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);

const ESCAPES: Readonly<Record<string, string>> = {
  __: '__underscores__',
  '.': '__dot__',
  '-': '__dash__',
  '/': '__slash__',
};

/** The name of a property in expressions: `a-b` is `a__dash__b`. undefined for those that expressions cannot name. */
export function escapeProperty(name: string): string | undefined {
  if (!/^[A-Za-z_./-][A-Za-z0-9_./-]*$/.test(name)) return undefined;
  if (RESERVED.has(name)) return `__${name}__`;
  return name.replaceAll(/__|[-./]/g, (found) => ESCAPES[found] ?? found);
}
