import { isDeepStrictEqual } from 'node:util';
import type { Deployment, PodTemplateSpec } from '@polder/kube';

/** Tells the pods (and the set) of one template from those of another. */
export const HASH_LABEL = 'pod-template-hash';

/** Whether both make the same pods. */
export function sameTemplate(a: PodTemplateSpec | undefined, b: PodTemplateSpec | undefined): boolean {
  return isDeepStrictEqual(withoutHash(a), withoutHash(b));
}

/** The template as the user wrote it: without the label that a set's own template has. */
export function withoutHash(template: PodTemplateSpec = {}): PodTemplateSpec {
  const { [HASH_LABEL]: _, ...labels } = template.metadata?.labels ?? {};
  return { ...template, metadata: { ...template.metadata, labels } };
}

/** Neither vowels nor what looks like one: a name never spells a word. */
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';

/** The same for the same template, whatever the order of its fields; another one after each collision. */
export function templateHash({ spec, status }: Deployment): string {
  const text = JSON.stringify(sorted([spec?.template, status?.collisionCount ?? null]));
  const digits = Buffer.from(String(fnv1a(text)));
  return Array.from(digits, (digit) => ALPHABET.at(digit % ALPHABET.length)).join('');
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).map(([key, inner]): [string, unknown] => [key, sorted(inner)]);
  return Object.fromEntries(fields.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** 32 bits. */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash;
}
