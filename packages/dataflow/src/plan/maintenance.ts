import { durationOf, type FlowSpec } from '@polder/engine/spec';

/** What `spec.maintenance` means at a moment. */
export interface Maintenance {
  /** A window is open. */
  readonly isOpen: boolean;
  /** When the last window began, or the one that is open. */
  readonly last: Date | undefined;
  readonly next: Date | undefined;
  /** When the open window ends, or the next one begins. */
  readonly changesAt: Date | undefined;
}

const NONE: Maintenance = { isOpen: false, last: undefined, next: undefined, changesAt: undefined };

/** Windows come again at the same time of the day in their own zone, whatever its clocks do. */
export function maintenanceAt(maintenance: FlowSpec['maintenance'], now: Date): Maintenance {
  const { startTime, duration, repeat, timezone = 'UTC' } = maintenance ?? {};
  if (startTime === undefined || duration === undefined) return NONE;
  const first = new Date(startTime);
  const begin = (turn: number) => beginOf(first, repeat, turn, timezone);
  if (now < first) return { ...NONE, next: first, changesAt: first };
  const turn = lastTurn(begin, first, repeat, now);
  const last = begin(turn);
  const next = repeat === undefined ? undefined : begin(turn + 1);
  const end = new Date(last.getTime() + (durationOf(duration) ?? 0));
  const isOpen = now < end;
  return { isOpen, last, next, changesAt: isOpen ? end : next };
}

const DAY_MS = 86_400_000;
const SHORTEST_MS = { daily: DAY_MS, weekly: 7 * DAY_MS, monthly: 28 * DAY_MS } as const;

type Repeat = keyof typeof SHORTEST_MS;

/** The last one that has begun. Months and days are of different lengths, so the first guess is at most too high. */
function lastTurn(begin: (turn: number) => Date, first: Date, repeat: Repeat | undefined, now: Date): number {
  if (repeat === undefined) return 0;
  let turn = Math.ceil((now.getTime() - first.getTime() + DAY_MS) / SHORTEST_MS[repeat]);
  while (turn > 0 && begin(turn) > now) turn--;
  return turn;
}

function beginOf(first: Date, repeat: Repeat | undefined, turn: number, zone: string): Date {
  if (repeat === undefined || turn === 0) return first;
  const wall = wallTime(first, zone);
  if (repeat === 'monthly') return instantOf(monthsLater(wall, turn), zone);
  return instantOf(new Date(wall.getTime() + turn * SHORTEST_MS[repeat]), zone);
}

/** On the same day of the month, or on its last if it has none. */
function monthsLater(wall: Date, months: number): Date {
  const later = new Date(wall);
  later.setUTCDate(1);
  later.setUTCMonth(wall.getUTCMonth() + months);
  const days = new Date(Date.UTC(later.getUTCFullYear(), later.getUTCMonth() + 1, 0)).getUTCDate();
  later.setUTCDate(Math.min(wall.getUTCDate(), days));
  return later;
}

/** What the clocks of a zone show, as if it were UTC. */
function wallTime(instant: Date, zone: string): Date {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  const shown = new Map(format.formatToParts(instant).map(({ type, value }) => [type, Number(value)]));
  const [year = 0, month = 1, day, hour, minute, second] = (
    ['year', 'month', 'day', 'hour', 'minute', 'second'] as const
  ).map((part) => shown.get(part));
  return new Date(Date.UTC(year, month - 1, day, hour, minute, second, instant.getUTCMilliseconds()));
}

/** The first guess may lie on the other side of a change of the clocks; the second does not. */
function instantOf(wall: Date, zone: string): Date {
  const offsetAt = (instant: Date) => wallTime(instant, zone).getTime() - instant.getTime();
  const guess = new Date(wall.getTime() - offsetAt(wall));
  return new Date(wall.getTime() - offsetAt(guess));
}
