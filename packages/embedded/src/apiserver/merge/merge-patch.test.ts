import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../schema/schema.ts';
import { applyMergePatch } from './merge-patch.ts';
import { differences, patchesOf, refusalOf } from './recorded-answers.ts';

const recorded = patchesOf('merge');

describe('a merge patch', () => {
  it.each(recorded.filter(({ answer }) => answer))(
    'gives what the real server gives: $name',
    ({ live, patch, answer }) => {
      const { spec, data } = applyMergePatch(live, patch);
      expect([...differences(spec, answer?.spec), ...differences(data, answer?.data)]).toEqual([]);
    },
  );

  it.each(recorded.filter(({ error }) => error))(
    'is refused like by the real server: $name',
    ({ live, patch, error }) => {
      expect(refusalOf(() => applyMergePatch(live, patch))).toEqual(error);
    },
  );

  it.each<{ document: JsonObject; patch: JsonObject; result: JsonObject }>([
    { document: { a: 'b' }, patch: { a: 'c' }, result: { a: 'c' } },
    { document: { a: 'b', b: 'c' }, patch: { a: null }, result: { b: 'c' } },
    { document: { a: ['b'] }, patch: { a: 'c' }, result: { a: 'c' } },
    { document: { a: { b: 'c' } }, patch: { a: { b: 'd', c: null } }, result: { a: { b: 'd' } } },
    { document: { e: null }, patch: { a: 1 }, result: { e: null, a: 1 } },
    { document: {}, patch: { a: { bb: { ccc: null } } }, result: { a: { bb: {} } } },
    { document: { a: [1] }, patch: { a: [{ b: null }] }, result: { a: [{}] } },
  ])('of $patch makes $result out of $document', ({ document, patch, result }) => {
    expect(applyMergePatch(document, patch)).toEqual(result);
  });

  it('changes nothing when it is applied again', () => {
    const json = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.jsonValue({ maxDepth: 3 })).map(plain);
    fc.assert(
      fc.property(json, json, (document, patch) => {
        const once = applyMergePatch(document, patch);
        expect(applyMergePatch(once, patch)).toEqual(once);
      }),
    );
  });
});

/** Generated values as they would come from the wire (no -0, no undefined). */
function plain(value: unknown): JsonObject {
  const parsed: JsonObject = JSON.parse(JSON.stringify(value));
  return parsed;
}
