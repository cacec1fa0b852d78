/**
 * The seeds that a test runs: 1 to `count`, always the same ones. `POLDER_SEED=17` runs that one alone, to replay a failure;
 * `POLDER_SEEDS=500` runs so many, to look for new ones.
 */
export function seeds(
  count: number,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): number[] {
  const one = wholeNumber('POLDER_SEED', environment);
  if (one !== undefined) return [one];
  return Array.from({ length: wholeNumber('POLDER_SEEDS', environment) ?? count }, (_, at) => at + 1);
}

function wholeNumber(name: string, environment: Readonly<Record<string, string | undefined>>): number | undefined {
  const text = environment[name];
  if (text === undefined || text === '') return undefined;
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new Error(`${name} is ${text}; it must be a whole number`);
  return value;
}
