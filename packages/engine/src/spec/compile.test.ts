import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileTransforms } from '../transforms/index.ts';
import { joinSecrets, normalise, secretRefsOf } from './index.ts';
import { aFlow, anyTransformation } from './test-flows.ts';

const clock = { now: () => 0 };

/** With some value for each secret, as a trial does it. */
function normalised(transformation: unknown) {
  const flow = aFlow({ transformations: [transformation] });
  return normalise(joinSecrets(flow, new Map(secretRefsOf(flow).map(({ pointer }) => [pointer, 'http://h']))));
}

test('every transformation that is valid can be compiled: what is wrong with it is said before anything runs', () => {
  let valid = 0;
  fc.assert(
    fc.property(anyTransformation(), (transformation) => {
      const result = normalised(transformation);
      if (!result.isValid) return;
      valid++;
      expect(() => compileTransforms(result.spec.transformations, clock)).not.toThrow();
    }),
    { numRuns: 1_000 },
  );
  expect(valid).toBeGreaterThan(150);
});
