import { beforeEach, expect, test } from 'vitest';
import { Echoes } from './echoes.ts';

let echoes: Echoes;
beforeEach(() => {
  echoes = new Echoes();
});

const heard = (version: string) => ({ version, isMinor: false });

test('what a pass wrote is no news, whether it is heard of before or after the pass is over', () => {
  echoes.begin('a', false);
  expect(echoes.takes('a', heard('1'))).toBe(true);
  echoes.wrote('a', ['1', '2']);
  expect(echoes.end('a')).toEqual([]);
  expect(echoes.takes('a', heard('2'))).toBe(true);
});

test('what others wrote is news, during a pass and after it', () => {
  echoes.begin('a', false);
  expect(echoes.takes('a', heard('3'))).toBe(true);
  echoes.wrote('a', ['4']);
  expect(echoes.end('a')).toEqual([heard('3')]);
  expect(echoes.takes('a', heard('5'))).toBe(false);
  expect(echoes.takes('b', heard('4'))).toBe(false);
});

test('each version comes back once, and no later than the next pass', () => {
  echoes.begin('a', false);
  echoes.wrote('a', ['1', '2']);
  echoes.end('a');
  expect(echoes.takes('a', heard('1'))).toBe(true);
  expect(echoes.takes('a', heard('1'))).toBe(false);
  echoes.begin('a', false);
  echoes.takes('a', heard('2'));
  expect(echoes.end('a')).toEqual([heard('2')]);
});

test('if one pass follows the other at once, what the first wrote may come back during the second', () => {
  echoes.begin('a', false);
  echoes.wrote('a', ['1']);
  echoes.end('a');
  echoes.begin('a', true);
  echoes.takes('a', heard('1'));
  expect(echoes.end('a')).toEqual([]);
});
