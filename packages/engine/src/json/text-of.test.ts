import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isZero, numberOf, parseJson, plainDecimal, textOf } from './index.ts';

test.each([
  ['"a b"', 'a b'],
  ['""', ''],
  ['null', ''],
  ['true', 'true'],
  ['false', 'false'],
  ['12', '12'],
  ['-0', '-0'],
  ['1e3', '1000'],
  ['1.50', '1.5'],
  ['1.0', '1'],
  ['0.10', '0.1'],
  ['1.5e1', '15'],
  ['15e-1', '1.5'],
  ['1e-3', '0.001'],
  ['-2.50e2', '-250'],
  ['0.0', '0'],
  ['12.34e-5', '0.0001234'],
  ['9007199254740993', '9007199254740993'],
  ['1e21', '1000000000000000000000'],
  ['{"a":[1,0.10]}', '{"a":[1,0.10]}'],
  ['[]', '[]'],
])('the text of %s is %s', (json, text) => expect(textOf(parseJson(json) ?? null)).toBe(text));

test('a number in plain digits is the same number', () => {
  fc.assert(
    fc.property(
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      (number) => Number(plainDecimal(String(number))) === number,
    ),
  );
});

test('an exponent can not fill the memory', () => {
  expect(plainDecimal('1e999999999')).toBe('1e999999999');
  expect(plainDecimal('1e-999999999')).toBe('1e-999999999');
});

test('zero is zero however it is spelled', () => {
  for (const zero of ['0', '-0', '0.00', '0e5', '-0.0E-7']) expect(isZero(zero)).toBe(true);
  for (const other of ['1', '0.01', '1e-400', '10', '1e0']) expect(isZero(other)).toBe(false);
});

test('a number that JavaScript spells the same way is one', () => {
  expect(numberOf('5')).toBe(5);
  expect(numberOf('5.0')).toMatchObject({ spelling: '5.0' });
});
