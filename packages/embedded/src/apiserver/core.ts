import type { Clock } from '@polder/kube';
import type { Admission } from './admission/index.ts';
import type { Faults } from './faults/index.ts';
import type { ServedKinds } from './served-kinds.ts';
import type { PodLogs } from './verbs/pods.ts';
import type { ObjectStore } from './watch/index.ts';

/** What every verb works with. */
export interface Core {
  readonly store: ObjectStore;
  readonly kinds: ServedKinds;
  readonly clock: Clock;
  readonly random: () => number;
  readonly admission: Admission;
  readonly faults: Faults;
  readonly podLogs: PodLogs;
  /** Ids in the headers of every answer. */
  readonly fairness: { readonly flowSchema: string; readonly priorityLevel: string };
}

/** A version 4 UUID from the randomness that was handed in. */
export function uuid(random: () => number): string {
  const word = () =>
    Math.floor(random() * 2 ** 32)
      .toString(16)
      .padStart(8, '0');
  const [a, b, c, d] = [word(), word(), word(), word()];
  const variant = '89ab'[Math.floor(random() * 4)] ?? '8';
  return `${a}-${b.slice(0, 4)}-4${b.slice(5)}-${variant}${c.slice(1, 4)}-${c.slice(4)}${d}`;
}

/** No vowels and nothing that looks like another character: generated names spell no words. */
const SUFFIX_ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';

export function nameSuffix(random: () => number): string {
  return Array.from({ length: 5 }, () => SUFFIX_ALPHABET[Math.floor(random() * SUFFIX_ALPHABET.length)]).join('');
}
