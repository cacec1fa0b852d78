import { type Held, sentenceOf } from '@polder/kube';

/** A status is for people to read. */
const MOST = 10;

/** What a status says of the steps that rules hold back; nothing if there are none. */
export const holdingOf = (held: readonly Held[]): { readonly holding?: string[] } =>
  held.length > 0 ? { holding: held.slice(0, MOST).map(sentenceOf) } : {};
