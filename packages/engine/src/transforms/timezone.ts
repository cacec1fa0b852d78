import { isNumber, type Json, spellingOf } from '../json/index.ts';
import { overDocuments } from './document.ts';
import { Path } from './path.ts';
import {
  compileFormat,
  type Instant,
  instantOf,
  instantOfMilliseconds,
  isInRange,
  millisecondsOf,
  parseCivilTime,
  type Zone,
  zoneNamed,
} from './time/index.ts';
import { ConfigError, type Transform, TransformError } from './transform.ts';

export interface TimezoneConfig {
  /** An IANA name or an offset (`+03:00`). */
  readonly timezone: string;
  readonly fields: readonly string[];
  /** Of times that do not say theirs. Default: UTC. */
  readonly sourceTimezone?: string;
  /** `RFC3339Nano` (default), `RFC3339`, `UnixMilli` (a number), or a layout of Go. */
  readonly format?: string;
}

/** Numbers from here on, and down from its negative, are milliseconds; as seconds they would be the year 33658. */
const FIRST_MILLISECONDS = 1e12;
const EPOCH = /^-?\d{1,15}(?:\.\d+)?(?:[eE]\+?\d{1,2})?$/;

/** Times in another time zone. What is missing or null is skipped; what is no time fails the message. */
export function timezone({ timezone, fields, sourceTimezone, format }: TimezoneConfig): Transform {
  const target = zoneOf('timezone', timezone);
  const source = zoneOf('sourceTimezone', sourceTimezone || 'UTC');
  const paths = fields.map((field, index) => Path.compile(`fields[${index}]`, field));
  const print = compileFormat(format || 'RFC3339Nano');
  const convert = (path: Path, value: Json): Json => {
    if (value === null) return null;
    const instant = readInstant(value, source);
    if (instant === undefined) throw new TransformError(`'${path.text}' is no time: neither RFC 3339 nor an epoch`);
    return format === 'UnixMilli' ? millisecondsOf(instant) : print(instant, target);
  };
  return overDocuments((document) => {
    let changed = document;
    for (const path of paths) changed = path.update(changed, (value) => convert(path, value));
    return changed;
  });
}

function zoneOf(field: string, name: string): Zone {
  const zone = zoneNamed(name);
  if (zone !== undefined) return zone;
  throw new ConfigError(field, `'${name}' is neither a time zone like Europe/Amsterdam nor an offset like +01:00`);
}

function readInstant(value: Json, source: Zone): Instant | undefined {
  const text = isNumber(value) ? spellingOf(value) : value;
  if (typeof text !== 'string') return undefined;
  const civil = parseCivilTime(text);
  const instant = civil === undefined ? epochIn(text) : instantOf(civil, source);
  return instant !== undefined && isInRange(instant) ? instant : undefined;
}

function epochIn(text: string): Instant | undefined {
  if (!EPOCH.test(text)) return undefined;
  const number = Number(text);
  return instantOfMilliseconds(Math.abs(number) >= FIRST_MILLISECONDS ? number : number * 1000);
}
