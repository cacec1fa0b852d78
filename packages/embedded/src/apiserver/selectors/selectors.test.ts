import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  asStructured,
  parseLabelSelector,
  printLabelSelector,
  type StructuredSelector,
  structuredLabelSelector,
} from './index.ts';

describe('a label selector', () => {
  it.each([
    ['app=web', { app: 'web' }, true],
    ['app==web', { app: 'db' }, false],
    ['app!=web', {}, true],
    ['app in (web, db)', { app: 'db' }, true],
    ['app notin (web,db)', { app: 'db' }, false],
    ['app notin (web)', {}, true],
    ['app', { app: '' }, true],
    ['!app', { app: '' }, false],
    ['size>5', { size: '10' }, true],
    ['size<5', { size: '10' }, false],
    ['size>5', { size: 'many' }, false],
    ['app=web,!legacy', { app: 'web' }, true],
    ['app=', { app: '' }, true],
    ['a.b/c in (x),d', { 'a.b/c': 'x', d: '1' }, true],
    ['', { any: 'thing' }, true],
  ])('%s on %o is %s', (text, labels, isSelected) => {
    expect(parseLabelSelector(text)(labels)).toBe(isSelected);
  });

  it.each([
    ['a in', "unable to parse requirement: found '' expected: '('"],
    ['a===', "unable to parse requirement: found '=', expected: identifier"],
  ])('%s is refused in the words of the real server', (text, message) => {
    expect(() => parseLabelSelector(text)).toThrow(message);
  });

  const structure = {
    matchLabels: { app: 'web' },
    matchExpressions: [
      { key: 'tier', operator: 'In', values: ['b', 'a'] },
      { key: 'zone', operator: 'NotIn', values: ['x'] },
      { key: 'new', operator: 'Exists' },
      { key: 'old', operator: 'DoesNotExist' },
    ],
  };

  it.each([
    [{ app: 'web', tier: 'a', new: '' }, true],
    [{ app: 'web', tier: 'a', new: '', zone: 'z' }, true],
    [{ app: 'api', tier: 'a', new: '' }, false],
    [{ app: 'web', tier: 'c', new: '' }, false],
    [{ app: 'web', tier: 'a', new: '', zone: 'x' }, false],
    [{ app: 'web', tier: 'a' }, false],
    [{ app: 'web', tier: 'a', new: '', old: '' }, false],
  ])('in an object says of %j: %s', (labels, expected) => {
    expect(structuredLabelSelector(structure)(labels)).toBe(expected);
  });

  it('is written as kubectl writes it, by key', () => {
    expect(printLabelSelector(structure)).toBe('app=web,new,!old,tier in (a,b),zone notin (x)');
    expect(printLabelSelector(asStructured({ b: 'c', a: 'b' }))).toBe('a=b,b=c');
  });

  it('selects the same whether it is written as text or as a structure', () => {
    const key = fc.constantFrom('a', 'b', 'c');
    const value = fc.constantFrom('1', '2', '3');
    const values = fc.uniqueArray(value, { minLength: 1 });
    const expression = fc.oneof(
      fc.record({ key, operator: fc.constantFrom('In', 'NotIn'), values }),
      fc.record({ key, operator: fc.constantFrom('Exists', 'DoesNotExist') }),
    );
    const selector: fc.Arbitrary<StructuredSelector> = fc.record({
      matchLabels: fc.dictionary(key, value),
      matchExpressions: fc.array(expression, { maxLength: 3 }),
    });
    fc.assert(
      fc.property(selector, fc.dictionary(key, value), (structured, labels) => {
        const text = printLabelSelector(structured);
        expect(parseLabelSelector(text)(labels)).toBe(structuredLabelSelector(structured)(labels));
      }),
    );
  });
});
