import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { medianOf, missing, quantile } from './figure.ts';

describe('the median of several runs', () => {
  it('is not moved by one bad run', () => {
    expect(medianOf([1.2, 9, 1.1])).toBe(1.2);
  });

  it('lies between the middle two of an even number of runs', () => {
    expect(medianOf([1, 2, 3, 10])).toBe(2.5);
  });

  it('is missing when the peer failed in any of them', () => {
    expect(medianOf([1, missing('never'), 2])).toEqual(missing('never'));
  });

  it('is missing without any run', () => {
    expect(medianOf([])).toEqual(missing('not measured'));
  });
});

describe('a quantile', () => {
  it('lies within the values, and is one of the ends at the ends', () => {
    const values = fc.array(fc.double({ noNaN: true, min: -1e6, max: 1e6 }), { minLength: 1 });
    fc.assert(
      fc.property(values, fc.double({ noNaN: true, min: 0, max: 1 }), (numbers, part) => {
        const [least, most] = [Math.min(...numbers), Math.max(...numbers)];
        const found = quantile(numbers, part);
        expect(found).toBeGreaterThanOrEqual(least - 1e-6);
        expect(found).toBeLessThanOrEqual(most + 1e-6);
        // Not `toBe`, which tells 0 from -0.
        expect(quantile(numbers, 0) === least).toBe(true);
        expect(quantile(numbers, 1) === most).toBe(true);
      }),
    );
  });
});
