import { expect, test } from 'vitest';
import { selectorText, selects } from './label-selector.ts';

const selector = {
  matchLabels: { app: 'web' },
  matchExpressions: [
    { key: 'tier', operator: 'In', values: ['b', 'a'] },
    { key: 'zone', operator: 'NotIn', values: ['x'] },
    { key: 'new', operator: 'Exists' },
    { key: 'old', operator: 'DoesNotExist' },
  ],
};

test.each([
  [{ app: 'web', tier: 'a', new: '' }, true],
  [{ app: 'web', tier: 'a', new: '', zone: 'z' }, true],
  [{ app: 'api', tier: 'a', new: '' }, false],
  [{ app: 'web', tier: 'c', new: '' }, false],
  [{ app: 'web', new: '' }, false],
  [{ app: 'web', tier: 'a', new: '', zone: 'x' }, false],
  [{ app: 'web', tier: 'a' }, false],
  [{ app: 'web', tier: 'a', new: '', old: '' }, false],
])('of %j the selector says %s', (labels, expected) => {
  expect(selects(selector, labels)).toBe(expected);
});

test('the empty selector selects everything', () => {
  expect(selects({}, {})).toBe(true);
});

test('a selector is written as kubectl writes it', () => {
  expect(selectorText(selector)).toBe('app=web,tier in (a,b),zone notin (x),new,!old');
  expect(selectorText({ b: 'c', a: 'b' })).toBe('a=b,b=c');
});
