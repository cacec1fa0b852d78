import { expect, test } from 'vitest';
import { FetchSize } from './fetch-size.ts';

const MIB = 1 << 20;

test('what grows when it is decompressed is asked for in smaller pieces, until a fetch brings some MiB', () => {
  const size = new FetchSize();
  for (let i = 0; i < 10; i++) size.brought(size.bytes * 30);
  expect(size.bytes * 30).toBeGreaterThan(3 * MIB);
  expect(size.bytes * 30).toBeLessThan(5 * MIB);
});

test('it never falls to nothing and never grows without end', () => {
  const size = new FetchSize();
  for (let i = 0; i < 20; i++) size.brought(size.bytes * 10_000);
  expect(size.bytes).toBe(64 * 1024);
  for (let i = 0; i < 20; i++) size.brought(10);
  expect(size.bytes).toBe(4 * MIB);
});

test('a fetch that brought nothing says nothing', () => {
  const size = new FetchSize();
  const before = size.bytes;
  size.brought(0);
  expect(size.bytes).toBe(before);
});
