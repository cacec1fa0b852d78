/** Numbers by their digits. A float would do for most, and silently not for the others. */
import { ExactNumber } from './value.ts';

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** Beyond it, to write the zeros out would fill the memory (`1e999999999`), and no float reaches it. */
const MAX_EXPONENT = 400;

export const spellingOf = (number: number | ExactNumber): string =>
  number instanceof ExactNumber ? number.spelling : String(number);

/** Without exponent and needless zeros: `1e3` is `1000`, `1.50` is `1.5`. Digits alone stay as they are. */
export function plainDecimal(spelling: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = DECIMAL.exec(spelling) ?? [];
  const shift = Number(exponent);
  if (whole === '' || Math.abs(shift) > MAX_EXPONENT) return spelling;
  if (whole.length === spelling.length - sign.length) return spelling;
  const point = whole.length + shift;
  const digits = (whole + fraction)
    .padEnd(point, '0')
    .padStart(whole.length + fraction.length - Math.min(point, 0), '0');
  const at = Math.max(point, 0);
  const before = digits.slice(0, at).replace(/^0+(?=\d)/, '') || '0';
  const after = withoutTrailingZeros(digits.slice(at));
  return after === '' ? sign + before : `${sign}${before}.${after}`;
}

export const isZero = (spelling: string): boolean => /^-?0*(?:\.0*)?(?:[eE].*)?$/.test(spelling);

/** A regular expression that looks for zeros at the end tries every run of them: quadratic. */
function withoutTrailingZeros(digits: string): string {
  let end = digits.length;
  while (digits[end - 1] === '0') end -= 1;
  return digits.slice(0, end);
}
