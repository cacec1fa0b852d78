import { describe, expect, test } from 'vitest';
import { checkFormat, durationOf } from './formats.ts';
import type { Format } from './schema.ts';

const isFine = (format: Format, text: string) => checkFormat(format, text) === undefined;

describe('texts are what they say they are', () => {
  test.each<[Format, readonly string[], readonly string[]]>([
    [
      'duration',
      ['1ns', '30s', '1h30m', '.5s', '1.s', '300µs'],
      ['', '0s', '30', '-1s', '1 s', '1d', 's', '1s ', 'x1s'],
    ],
    [
      'date-time',
      ['2026-01-31T02:00:00Z', '2024-02-29t02:00:00.123+05:30'],
      ['2026-01-31', '2026-02-29T02:00:00Z', '2026-01-31T25:00:00Z', '2026-01-31T02:00:00', ''],
    ],
    [
      'time-zone',
      ['UTC', 'Europe/Moscow', 'America/Argentina/Buenos_Aires'],
      ['', '+02:00', 'Mars', 'Europe/', '../UTC'],
    ],
    ['zone-or-offset', ['UTC', '+05:30', '-11:00'], ['05:30', '+5:30', '+24:00', '+02:60']],
    ['http-url', ['http://h', 'https://h:1/p?q'], ['h:80', 'http://', 'http:///p', 'ftp://h', 'http://h:99999']],
    [
      'quantity',
      ['0', '1', '100m', '1.5', '.5', '1e3', '1E-3', '512Mi', '+1', '-0'],
      ['', 'm', '1 Mi', '1mi', '1KB', '--1', '-1', '-100m'],
    ],
    ['unsigned-integer', ['0', '18446744073709551615'], ['', '-1', '1.0', '٣']],
    ['single-path', ['a', '$.a.b', 'a[99999].b'], ['', 'a.#', 'a[*]', 'a*']],
    ['target-path', ['a', 'a[9999].b', 'a.-1'], ['', 'a.#.b', 'a.?', 'a[10000].b']],
    [
      'rename',
      ['a:b', 'a.b:$.c', 'a:b:c', 'a.:1:b'],
      ['a', ':b', 'a:', '', ' : ', 'a.:1', 'a.#:b', 'a:b.*', 'a:b.10000'],
    ],
    ['header-mapping', ['X-Id:id', 'X-*:id'], ['X-Id', ' :id', 'X-Id:a.#']],
    ['top-level-key', ['record', 'with space'], ['a.b']],
    ['inserted-value', ['', 'text', 'json:null', 'json: {"a":1}'], ['json:', 'json:{a}']],
  ])('%s', (format, right, wrong) => {
    expect(right.filter((text) => !isFine(format, text))).toEqual([]);
    expect(wrong.filter((text) => isFine(format, text))).toEqual([]);
  });
});

test.each([
  ['1h30m', 5_400_000],
  ['1.5s', 1500],
  ['250us', 0.25],
])('%s is %d ms', (text, ms) => {
  expect(durationOf(text)).toBe(ms);
});
