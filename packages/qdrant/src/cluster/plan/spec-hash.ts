import { createHash } from 'node:crypto';
import type { ClusterSpec } from '../../kinds/index.ts';

/** As upstream computes it: over these fields in this order, the first 16 characters. Tools compare it. */
export function specHash(spec: ClusterSpec): string {
  const { replicas, image, apikey, readApikey, tls, resources, persistence, service } = spec;
  const fields = { replicas, image, apikey, readApikey, tls, resources, persistence, service };
  return createHash('sha256')
    .update(JSON.stringify(sorted(fields, false)))
    .digest('hex')
    .slice(0, 16);
}

/** Whoever sends a spec may have its inner fields in any order. */
function sorted(value: unknown, isInner = true): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value);
  const ordered = isInner ? entries.toSorted(([a], [b]) => (a < b ? -1 : 1)) : entries;
  return Object.fromEntries(ordered.map(([key, inner]) => [key, sorted(inner)]));
}
