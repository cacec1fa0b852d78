import type { WireObject } from '../served-kind.ts';
import { badRequest } from '../status.ts';
import { textAt } from './fields.ts';

const SPELLING = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6}(Z|[+-]\d\d:\d\d)$)?/;

/**
 * The times of leases and events have exactly six digits after the second: `toISOString()` is refused by the real server
 * (while it decodes, hence 400), and a client that works here has to work there.
 */
export function checkMicroTimes(object: WireObject, ...paths: readonly (readonly string[])[]): void {
  for (const path of paths) {
    const time = textAt(object, ...path);
    const match = SPELLING.exec(time);
    if (time === '' || match?.[1] !== undefined) continue;
    const rest = match ? time.slice(match[0].length) : time;
    const problem = match ? problemAfterSecond(rest) : `cannot parse "${rest}" as "2006"`;
    const { kind, apiVersion } = object;
    const version = apiVersion.slice(apiVersion.indexOf('/') + 1);
    throw badRequest(
      `${kind} in version "${version}" cannot be handled as a ${kind}: parsing time "${time}" as "2006-01-02T15:04:05.000000Z07:00": ${problem}`,
    );
  }
}

function problemAfterSecond(rest: string): string {
  const isTooPrecise = /^\.\d{7,}/.test(rest);
  return isTooPrecise ? `cannot parse "${rest.slice(7)}" as "Z07:00"` : `cannot parse "${rest}" as ".000000"`;
}
