import { murmur2 as clients } from '@platformatic/kafka';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { murmur2 } from './murmur2.ts';

test('any key hashes as by the client, so that it stays in its partition', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 70 }), (key) => {
      expect(murmur2(Buffer.from(key))).toBe(clients(Buffer.from(key)));
    }),
    { numRuns: 2_000 },
  );
});
