import type { Clock } from '../clock.ts';
import { overObjects } from './document.ts';
import { Path } from './path.ts';
import { compileFormat, instantOfMilliseconds } from './time/index.ts';
import type { Transform } from './transform.ts';

export interface TimestampConfig {
  /** Default: `created_at`. */
  readonly fieldName?: string;
  /** `RFC3339` (default), `RFC3339Nano`, `Unix`, `UnixMilli`, or a layout of Go. In UTC. */
  readonly format?: string;
}

/** Sets a field to the time at which the message passes. */
export function timestamp({ fieldName, format }: TimestampConfig, clock: Pick<Clock, 'now'>): Transform {
  const path = Path.compileTarget('fieldName', fieldName || 'created_at');
  const print = compileFormat(format || 'RFC3339');
  // Many messages pass in a millisecond.
  let last = { now: Number.NaN, text: '' };
  return overObjects((document) => {
    const now = clock.now();
    if (now !== last.now) last = { now, text: print(instantOfMilliseconds(now)) };
    return path.set(document, last.text);
  });
}
