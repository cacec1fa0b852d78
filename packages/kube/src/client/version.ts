/**
 * Resource versions are opaque, except that two of the same kind may be compared (since Kubernetes 1.35): positive whole
 * numbers without leading zeros, so the longer one is greater. They stay strings: `Number` is exact up to 2^53 only.
 */
export function isAtLeast(version: string, wanted: string): boolean {
  // A version that can't be compared must never hold anybody up.
  if (!COMPARABLE.test(version) || !COMPARABLE.test(wanted)) return true;
  return version.length === wanted.length ? version >= wanted : version.length > wanted.length;
}

const COMPARABLE = /^[1-9]\d*$/;
