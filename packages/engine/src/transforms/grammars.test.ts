import { expect, test } from 'vitest';
import { checkCondition, checkPath } from './grammars.ts';

test('what can be read has nothing wrong', () => {
  expect(checkPath('$.items[*].sku')).toBeUndefined();
  expect(checkCondition("$.level == 'error' && !muted")).toBeUndefined();
});

test('what can not says where and why', () => {
  expect(checkPath('a.#(b==1)')).toBe("'a.#(b==1)', position 3: queries like '#(…)' are not supported");
  expect(checkCondition('a >= 5')).toBe("'a >= 5', position 3: '>' is not supported; compare with '==' or '!='");
});
