/**
 * The formats that the API server checks and `validate` checks alike. The server silently ignores one that it does not know,
 * so a schema that uses another is refused: use a pattern.
 */
import { isIPv4, isIPv6 } from 'node:net';

const within = (lowest: number, highest: number) => (value: number) => value >= lowest && value <= highest;
const always = () => true;

export const NUMBER_FORMATS: ReadonlyMap<string, (value: number) => boolean> = new Map([
  ['int32', within(-(2 ** 31), 2 ** 31 - 1)],
  ['int64', within(-(2 ** 63), 2 ** 63)],
  ['float', within(-3.4028234663852886e38, 3.4028234663852886e38)],
  ['double', always],
]);

const DATE_TIME = /^\d{4}-\d\d-\d\d[Tt]([01]\d|2[0-3])(:[0-5]\d){2}(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$/;
const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;

export const STRING_FORMATS: ReadonlyMap<string, (value: string) => boolean> = new Map([
  ['date-time', (value: string) => DATE_TIME.test(value) && isDay(value.slice(0, 10))],
  ['date', (value: string) => /^\d{4}-\d\d-\d\d$/.test(value) && isDay(value)],
  ['byte', (value: string) => /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(value)],
  ['ipv4', isIPv4],
  ['ipv6', isIPv6],
  ['uuid', (value: string) => UUID.test(value)],
  ['password', always],
]);

/** The 30th of February parses, as a day of March. */
function isDay(text: string): boolean {
  const day = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}
