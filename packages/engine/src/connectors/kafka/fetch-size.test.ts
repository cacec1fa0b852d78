import { expect, test } from 'vitest';
import { FetchSize } from './fetch-size.ts';

const KIB = 1024;

test('what grows when it is decompressed is asked for in smaller pieces, until a fetch brings half a MiB', () => {
  const size = new FetchSize();
  for (let i = 0; i < 10; i++) size.brought(size.bytes * 5);
  expect(size.bytes * 5).toBeGreaterThan(500 * KIB);
  expect(size.bytes * 5).toBeLessThan(524 * KIB);
});

test('it never falls to nothing and never grows without end', () => {
  const size = new FetchSize();
  for (let i = 0; i < 20; i++) size.brought(size.bytes * 10_000);
  expect(size.bytes).toBe(64 * KIB);
  for (let i = 0; i < 20; i++) size.brought(10);
  expect(size.bytes).toBe(512 * KIB);
});

test('a fetch that brought nothing says nothing', () => {
  const size = new FetchSize();
  const before = size.bytes;
  size.brought(0);
  expect(size.bytes).toBe(before);
});
