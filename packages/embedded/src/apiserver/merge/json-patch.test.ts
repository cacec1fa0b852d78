import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isObject, type Json } from '../schema/schema.ts';
import { applyJsonPatch } from './json-patch.ts';
import { differences, patchesOf, refusalOf } from './recorded-answers.ts';

const recorded = patchesOf('json');

describe('a JSON patch', () => {
  it.each(recorded.filter(({ answer }) => answer))(
    'gives what the real server gives: $name',
    ({ live, patch, answer }) => {
      const patched = applyJsonPatch(live, patch);
      const { spec, data } = isObject(patched) ? patched : {};
      expect([...differences(spec, answer?.spec), ...differences(data, answer?.data)]).toEqual([]);
    },
  );

  it.each(recorded.filter(({ error }) => error))(
    'is refused like by the real server: $name',
    ({ live, patch, error }) => {
      expect(refusalOf(() => applyJsonPatch(live, patch))).toEqual(error);
    },
  );

  it('may have 10,000 operations and not one more', () => {
    const tests = Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/a', value: 1 }));
    expect(applyJsonPatch({ a: 1 }, tests.slice(1))).toEqual({ a: 1 });
    expect(refusalOf(() => applyJsonPatch({ a: 1 }, tests))).toEqual({
      code: 413,
      reason: 'RequestEntityTooLarge',
      message: 'Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001',
    });
  });

  it('is applied whole or not at all', () => {
    const document = { list: [1, 2], map: { a: 1 } };
    const before = structuredClone(document);
    const patch = [
      { op: 'remove', path: '/map/a' },
      { op: 'add', path: '/list/-', value: 3 },
      { op: 'test', path: '/list/0', value: 9 },
    ];
    expect(() => applyJsonPatch(document, patch)).toThrow('the server rejected our request');
    expect(document).toEqual(before);
  });

  it('does to nested objects what assignments and deletes would do', () => {
    const key = fc.constantFrom('a', 'b', 'c/d', 'e~f', '');
    const step = fc.record({
      op: fc.constantFrom('add', 'remove'),
      path: fc.array(key, { minLength: 1, maxLength: 3 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        const model: Tree = new Map();
        let document: Json = {};
        for (const [value, { op, path }] of steps.entries()) {
          const pointer = path.map((part) => `/${part.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
          const parent = path.slice(0, -1).reduce<Tree | undefined>((tree, part) => subtree(tree?.get(part)), model);
          const last = path.at(-1) ?? '';
          const isPossible = parent !== undefined && (op === 'add' || parent.has(last));
          // Even steps add a place for more, odd ones a leaf.
          const added: Json = value % 2 === 0 ? {} : value;
          if (isPossible && op === 'add') parent.set(last, value % 2 === 0 ? new Map() : value);
          if (isPossible && op === 'remove') parent.delete(last);
          const target = isObject(document) ? document : {};
          const patch = [{ op, path: pointer, value: added }];
          if (isPossible) document = applyJsonPatch(target, patch);
          else refusalOf(() => applyJsonPatch(target, patch));
        }
        expect(document).toEqual(plain(model));
      }),
    );
  });
});

type Tree = Map<string, Tree | number>;

const subtree = (value: Tree | number | undefined) => (value instanceof Map ? value : undefined);

const plain = (tree: Tree): Json =>
  Object.fromEntries([...tree].map(([key, value]) => [key, value instanceof Map ? plain(value) : value]));
