const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

/** `45s`, `3m20s`, `5h12m`, `2d3h`, `1y40d`: two units while the first is small, as kubectl prints ages. */
export function humanDuration(milliseconds: number): string {
  const seconds = Math.trunc(milliseconds / 1000);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 2 * MINUTE) return `${seconds}s`;
  if (seconds < 10 * MINUTE) return pair(seconds, MINUTE, 'm', 1, 's');
  if (seconds < 3 * HOUR) return `${Math.floor(seconds / MINUTE)}m`;
  if (seconds < 8 * HOUR) return pair(seconds, HOUR, 'h', MINUTE, 'm');
  if (seconds < 2 * DAY) return `${Math.floor(seconds / HOUR)}h`;
  if (seconds < 8 * DAY) return pair(seconds, DAY, 'd', HOUR, 'h');
  if (seconds < 2 * YEAR) return `${Math.floor(seconds / DAY)}d`;
  if (seconds < 8 * YEAR) return pair(seconds, YEAR, 'y', DAY, 'd');
  return `${Math.floor(seconds / YEAR)}y`;
}

/** How long ago a time of the wire was. */
export function since(time: unknown, now: number): string {
  return typeof time === 'string' && time !== '' ? humanDuration(now - Date.parse(time)) : '<unknown>';
}

function pair(seconds: number, unit: number, name: string, smaller: number, smallerName: string): string {
  const rest = Math.floor((seconds % unit) / smaller);
  return `${Math.floor(seconds / unit)}${name}${rest === 0 ? '' : `${rest}${smallerName}`}`;
}
