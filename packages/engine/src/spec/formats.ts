import { parseJson } from '../json/index.ts';
import { checkCondition, checkPath, checkSinglePath, checkTargetPath } from '../transforms/grammars.ts';
import { pairOf } from '../transforms/pair.ts';
import type { Format } from './schema.ts';

/** Says what is wrong with a text, or nothing. */
export function checkFormat(format: Format, text: string): string | undefined {
  switch (format) {
    case 'condition':
      return checkCondition(text);
    case 'path':
      return checkPath(text);
    case 'single-path':
      return checkSinglePath(text);
    case 'target-path':
      return checkTargetPath(text);
    case 'rename':
      return checkPair(text, 'old:new', [checkSinglePath, checkTargetPath]);
    case 'header-mapping':
      return checkPair(text, 'Header:path', [() => undefined, checkTargetPath]);
    case 'top-level-key':
      return text.includes('.') ? 'must be the name of a field at the top, without dots' : undefined;
    case 'inserted-value':
      // As the transformation reads it: what is nested too deep is no JSON to it.
      return text.startsWith('json:') && parseJson(text.slice('json:'.length)) === undefined
        ? 'has no JSON after json:'
        : undefined;
    case 'json':
      return isJson(text) ? undefined : 'must be JSON';
    case 'duration':
      return (durationOf(text) ?? 0) > 0 ? undefined : 'must be a duration greater than 0 such as 30s, 5m or 1h30m';
    case 'date-time':
      return isTime(text) ? undefined : 'must be a time such as 2026-01-31T02:00:00Z (RFC 3339)';
    case 'time-zone':
      return isZone(text) ? undefined : 'must be a time zone such as UTC or Europe/Berlin';
    case 'zone-or-offset':
      return isZone(text) || isOffset(text)
        ? undefined
        : 'must be a time zone such as UTC or Europe/Berlin, or an offset such as +02:00';
    case 'http-url':
      return isHttpUrl(text) ? undefined : 'must be a URL that begins with http:// or https://';
    case 'unsigned-integer':
      return /^\d+$/.test(text) ? undefined : 'must be digits only';
    case 'quantity':
      return checkQuantity(text);
  }
}

function checkPair(
  text: string,
  shape: string,
  [first, second]: readonly [(text: string) => string | undefined, (text: string) => string | undefined],
): string | undefined {
  const pair = pairOf(text);
  return pair === undefined ? `must be written as ${shape}` : (first(pair[0]) ?? second(pair[1]));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const UNITS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1e3,
  m: 6e4,
  h: 36e5,
};
const PART = /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)/g;

/** A duration as Go writes them (`1h30m`, `1.5s`), in milliseconds. */
export function durationOf(text: string): number | undefined {
  const parts = [...text.matchAll(PART)];
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== text) return undefined;
  return parts.reduce((sum, [, count = '', unit = '']) => sum + Number(count) * (UNITS[unit] ?? 0), 0);
}

const TIME = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;

const isTime = (text: string) => TIME.test(text) && !Number.isNaN(Date.parse(text)) && isDay(text.slice(0, 10));

/** The 30th of February is no day, but `Date` takes it for one of March. */
function isDay(text: string): boolean {
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

function isZone(text: string): boolean {
  if (!/^[A-Za-z]/.test(text)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

const isOffset = (text: string) => /^[+-]([01]\d|2[0-3]):[0-5]\d$/.test(text);

function isHttpUrl(text: string): boolean {
  return /^https?:\/\/[^/?#]/i.test(text) && URL.canParse(text);
}

/** Numbers as Kubernetes writes them: 100m, 1.5, 512Mi, 1e3. */
function checkQuantity(text: string): string | undefined {
  const [, sign, digits] = /^([+-]?)(\d+\.?\d*|\.\d+)(?:[numkMGTPE]|[KMGTPE]i|[eE][+-]?\d+)?$/.exec(text) ?? [];
  if (digits === undefined) return 'must be a quantity such as 500m, 2 or 512Mi';
  return sign === '-' && Number(digits) > 0 ? 'resource quantity must not be negative' : undefined;
}
