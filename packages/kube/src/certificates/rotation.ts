import { isIP } from 'node:net';
import { createAuthority, expiryOf, type IssueOptions, isForAll, isIssuedBy, issue, type Pair } from './pair.ts';

const DAY_MS = 24 * 60 * 60_000;

/** How long certificates last, and what they are for. */
export interface Terms {
  /** Authorities are named after it, and after the time at which they were made. */
  readonly name: string;
  readonly use: IssueOptions['use'];
  readonly authority: Lifetime;
  readonly leaf: Lifetime;
  /** Whether an authority that signs no more is trusted until it ends, or until nobody shows what it signed. */
  readonly former: 'until-it-ends' | 'while-it-is-shown';
}

export interface Lifetime {
  readonly validMs: number;
  readonly renewBeforeMs: number;
}

const WEBHOOK: Lifetime = { validMs: 90 * DAY_MS, renewBeforeMs: 7 * DAY_MS };

/** Of the webhooks that this program serves: whoever calls them hears of a new authority within moments. */
export const WEBHOOK_TERMS: Terms = {
  name: 'webhook',
  use: 'server',
  authority: WEBHOOK,
  leaf: WEBHOOK,
  former: 'until-it-ends',
};

/** What is kept in the Secret. */
export interface Held {
  /** The authorities to be trusted, the one that signs first. */
  readonly authorities: readonly [string, ...string[]];
  readonly authorityKey: string;
  readonly serving: Pair;
}

/**
 * A new authority is trusted before it is used: it joins the bundle first, and only once the bundle is known to be in place
 * does it sign the serving certificate. The old authority stays trusted until it ends, for replicas that are slow to follow.
 */
export type Step =
  /** There is nothing that anybody could still trust. */
  | { readonly do: 'start-over' }
  | { readonly do: 'add-authority' }
  | { readonly do: 'issue' }
  | { readonly do: 'drop-former' }
  | { readonly do: 'nothing' };

/** `isTrusted`: what is held has been in place, everywhere, for a while. */
export function nextStep(
  held: Held | undefined,
  hosts: readonly string[],
  isTrusted: boolean,
  now: number,
  terms: Terms = WEBHOOK_TERMS,
): Step {
  if (!held || expiryOf(held.authorities[0]) <= now) return { do: 'start-over' };
  const [authority, ...former] = held.authorities;
  const endsSoon = (certificate: string, { renewBeforeMs }: Lifetime) => expiryOf(certificate) - now <= renewBeforeMs;
  if (endsSoon(authority, terms.authority)) return { do: 'add-authority' };
  const { certificate } = held.serving;
  const isStale =
    endsSoon(certificate, terms.leaf) || !isIssuedBy(certificate, authority) || !isForAll(certificate, hosts);
  // One that has ended is refused by everybody: waiting could only make it worse.
  if (isStale && (isTrusted || expiryOf(certificate) <= now)) return { do: 'issue' };
  const isShown = isStale || !isTrusted;
  const isOver = (one: string) => expiryOf(one) <= now || (terms.former === 'while-it-is-shown' && !isShown);
  return { do: former.some(isOver) ? 'drop-former' : 'nothing' };
}

export async function carryOut(
  step: Exclude<Step, { readonly do: 'nothing' }>,
  held: Held | undefined,
  hosts: readonly string[],
  now: number,
  terms: Terms = WEBHOOK_TERMS,
): Promise<Held> {
  if (step.do === 'start-over' || !held) {
    const authority = await newAuthority(now, terms);
    const serving = await servingPair(authority, hosts, now, terms);
    return { authorities: [authority.certificate], authorityKey: authority.key, serving };
  }
  const [authority, ...older] = held.authorities;
  const living = older.filter((one) => expiryOf(one) > now);
  switch (step.do) {
    case 'add-authority': {
      const next = await newAuthority(now, terms);
      return { ...held, authorities: [next.certificate, authority, ...living], authorityKey: next.key };
    }
    case 'issue': {
      const serving = await servingPair({ certificate: authority, key: held.authorityKey }, hosts, now, terms);
      return { ...held, serving };
    }
    case 'drop-former':
      return { ...held, authorities: [authority, ...(terms.former === 'until-it-ends' ? living : [])] };
  }
}

/** Named after its time: two authorities of one name in a bundle are hard to tell apart for some TLS stacks. */
function newAuthority(now: number, { name, authority: { validMs } }: Terms): Promise<Pair> {
  return createAuthority({ name: `${name} authority ${new Date(now).toISOString()}`, validMs, now });
}

function servingPair(
  authority: Pair,
  hosts: readonly string[],
  now: number,
  { use, leaf: { validMs }, name }: Terms,
): Promise<Pair> {
  const [ipAddresses, dnsNames] = [hosts.filter((host) => isIP(host)), hosts.filter((host) => !isIP(host))];
  return issue(authority, { name: hosts[0] ?? name, use, dnsNames, ipAddresses, validMs, now });
}
