import fc from 'fast-check';
import type { Segments } from './tree.ts';

const RARE_KEYS = ['aB', 'userID', 'XMLParser', 'a_b', '10', '2', '__proto__', 'x.y', 'array', 'payload'];

/** Mostly one of two, so that paths find what documents have. */
const mostly = (rare: readonly string[]) =>
  fc.oneof({ weight: 3, arbitrary: fc.constantFrom('a', 'b') }, { weight: 1, arbitrary: fc.constantFrom(...rare) });

export const key = mostly(RARE_KEYS);
/** A segment of digits would make lists. */
export const name = mostly(RARE_KEYS.filter((one) => !/\d/.test(one)));

/** Short ones mostly, for the same reason. */
const pathOf = (segment: fc.Arbitrary<string>): fc.Arbitrary<Segments> =>
  fc.oneof(
    { weight: 5, arbitrary: fc.tuple(segment) },
    { weight: 4, arbitrary: fc.tuple(segment, segment) },
    { weight: 1, arbitrary: fc.array(segment, { minLength: 3, maxLength: 4 }) },
  );

const orSometimes = (usual: fc.Arbitrary<string>, ...others: readonly string[]) =>
  fc.oneof({ weight: 4, arbitrary: usual }, { weight: 1, arbitrary: fc.constantFrom(...others) });

/** Names at most one value. */
export const singlePath = pathOf(orSometimes(key, '0', '1'));

/** May be written to. */
export const targetPath = pathOf(orSometimes(key, '0', '1', '-1'));

export const anyPath = pathOf(orSometimes(orSometimes(key, '#', '[*]', '0', '1'), '*', 'a*', '?', '*B'))
  // `#[` begins a query.
  .filter((path) => !path.some((segment, at) => segment === '#' && path[at + 1] === '[*]'));

export const anyPaths = fc.array(anyPath, { minLength: 1, maxLength: 3 });
