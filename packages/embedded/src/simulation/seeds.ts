/**
 * The seeds that a test runs: 1 to `count`, always the same ones. `POLDER_SEED=17` runs that one alone, to replay a failure;
 * `POLDER_SEEDS=500` runs so many, to look for new ones, and `POLDER_SEEDS=501-1000` goes on from there.
 */
export function seeds(
  count: number,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): number[] {
  const one = given('POLDER_SEED', environment, /^(\d{1,15})$/, 'a whole number');
  if (one) return [Number(one[1])];
  const several = given(
    'POLDER_SEEDS',
    environment,
    /^(?:(\d{1,15})-)?(\d{1,15})$/,
    'a whole number or a range of them',
  );
  const [first, last] = several ? [Number(several[1] ?? 1), Number(several[2])] : [1, count];
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => first + at);
}

function given(
  name: string,
  environment: Readonly<Record<string, string | undefined>>,
  form: RegExp,
  what: string,
): RegExpExecArray | undefined {
  const text = environment[name];
  if (text === undefined || text === '') return undefined;
  const found = form.exec(text);
  if (!found) throw new Error(`${name} is ${text}; it must be ${what}`);
  return found;
}
