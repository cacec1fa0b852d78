import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { maintenanceAt } from './maintenance.ts';

const window = (startTime: string, more: object = {}) => ({
  startTime,
  duration: '2h',
  timezone: 'UTC',
  suspended: false,
  ...more,
});
const at = (time: string) => new Date(time);

describe('a window that does not come again', () => {
  const once = window('2026-03-01T02:00:00Z');
  test.each([
    [
      '2026-03-01T01:59:59Z',
      { isOpen: false, next: at('2026-03-01T02:00:00Z'), changesAt: at('2026-03-01T02:00:00Z') },
    ],
    ['2026-03-01T02:00:00Z', { isOpen: true, last: at('2026-03-01T02:00:00Z'), changesAt: at('2026-03-01T04:00:00Z') }],
    [
      '2026-03-01T04:00:00Z',
      { isOpen: false, last: at('2026-03-01T02:00:00Z'), next: undefined, changesAt: undefined },
    ],
  ])('at %s', (now, expected) => {
    expect(maintenanceAt(once, at(now))).toMatchObject(expected);
  });
});

describe('windows come again', () => {
  test.each([
    [
      'every day',
      window('2026-01-01T02:00:00Z', { repeat: 'daily' }),
      '2026-03-01T03:00:00Z',
      '2026-03-02T02:00:00.000Z',
    ],
    [
      'every week',
      window('2026-01-01T02:00:00Z', { repeat: 'weekly' }),
      '2026-03-05T03:00:00Z',
      '2026-03-12T02:00:00.000Z',
    ],
    [
      'every month',
      window('2026-01-15T02:00:00Z', { repeat: 'monthly' }),
      '2026-03-15T03:00:00Z',
      '2026-04-15T02:00:00.000Z',
    ],
    [
      'on the last day of a month that is shorter',
      window('2026-01-31T02:00:00Z', { repeat: 'monthly' }),
      '2026-02-28T03:00:00Z',
      '2026-03-31T02:00:00.000Z',
    ],
  ] as const)('%s', (_what, maintenance, now, next) => {
    const found = maintenanceAt(maintenance, at(now));
    expect({ isOpen: found.isOpen, next: found.next?.toISOString() }).toEqual({ isOpen: true, next });
  });

  test('at the same time of the day where the user lives, before and after the clocks change', () => {
    const berlin = window('2026-03-01T03:30:00+01:00', { repeat: 'daily', timezone: 'Europe/Berlin' } as const);
    expect(maintenanceAt(berlin, at('2026-03-20T12:00:00Z')).next).toEqual(at('2026-03-21T02:30:00Z'));
    expect(maintenanceAt(berlin, at('2026-04-01T12:00:00Z')).next).toEqual(at('2026-04-02T01:30:00Z'));
  });
});

test('whenever one looks, the last window has begun, the next has not, and something changes between now and then', () => {
  const day = fc.date({ min: at('2026-01-01T00:00:00Z'), max: at('2028-12-31T00:00:00Z'), noInvalidDate: true });
  const zone = fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kathmandu');
  const repeat = fc.constantFrom('daily', 'weekly', 'monthly');
  fc.assert(
    fc.property(day, day, zone, repeat, (start, now, timezone, repeat) => {
      const { last, next, changesAt, isOpen } = maintenanceAt(window(start.toISOString(), { timezone, repeat }), now);
      expect(last === undefined || last <= now).toBe(true);
      expect(next !== undefined && next > now).toBe(true);
      expect(changesAt !== undefined && changesAt > now).toBe(true);
      expect(isOpen).toBe(last !== undefined && now.getTime() < last.getTime() + 7_200_000);
    }),
  );
});

test('without a window nothing is ever closed', () => {
  const nothing = { isOpen: false, last: undefined, next: undefined, changesAt: undefined };
  expect(maintenanceAt(undefined, at('2026-01-01T00:00:00Z'))).toEqual(nothing);
  expect(maintenanceAt({ timezone: 'UTC', suspended: true }, at('2026-01-01T00:00:00Z'))).toEqual(nothing);
});
