import { expect, test } from 'vitest';
import { Random } from './random.ts';

const draw = (random: Random, count = 5) => Array.from({ length: count }, random.next);

test('the same seed gives the same numbers, another seed others', () => {
  expect(draw(new Random(7))).toEqual(draw(new Random(7)));
  expect(draw(new Random(7))).not.toEqual(draw(new Random(8)));
});

test('a fork does not depend on what was drawn before, nor on other forks', () => {
  const alone = draw(new Random(7).fork('user'));
  const random = new Random(7);
  draw(random, 100);
  draw(random.fork('server'), 100);
  expect(draw(random.fork('user'))).toEqual(alone);
  expect(draw(random.fork('server'))).not.toEqual(alone);
});

test('draws stay within their bounds and reach both ends', () => {
  const random = new Random(1);
  const whole = Array.from({ length: 1_000 }, () => random.integer(2, 4));
  expect(new Set(whole)).toEqual(new Set([2, 3, 4]));
  const picked = Array.from({ length: 1_000 }, () => random.pick(['a', 'b']));
  expect(new Set(picked)).toEqual(new Set(['a', 'b']));
  const some = Array.from({ length: 1_000 }, () => random.between(-1, 1));
  expect(Math.min(...some)).toBeLessThan(-0.9);
  expect(Math.max(...some)).toBeGreaterThan(0.9);
  expect(some.every((one) => one >= -1 && one < 1)).toBe(true);
  expect(Array.from({ length: 1_000 }, () => random.chance(0.25)).filter(Boolean).length).toBeLessThan(350);
});
