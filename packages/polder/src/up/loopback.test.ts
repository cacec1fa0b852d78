import { expect, test } from 'vitest';
import { loopbackOf } from './loopback.ts';

test('a folder always has the same block of loopback addresses, and nearly every folder another one', () => {
  expect(loopbackOf('/home/a/.polder')).toBe(loopbackOf('/home/a/.polder'));
  const blocks = Array.from({ length: 20_000 }, (_, number) => loopbackOf(`/folder/${number}`));
  expect(new Set(blocks).size).toBe(1024);
  const isBlock = ([first, second = 0, third = 0, fourth]: readonly number[]) =>
    first === 127 && second >= 64 && second <= 127 && third % 16 === 0 && third <= 240 && fourth === 0;
  expect(blocks.filter((block) => !isBlock(block.split('.').map(Number)))).toEqual([]);
});
