/** For the counts in a status that the wire leaves out when they are zero. */
export function nonZero<Name extends string>(counts: Readonly<Record<Name, number>>): Partial<Record<Name, number>>;
export function nonZero(counts: Readonly<Record<string, number>>): object {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== 0));
}
