import { isIP } from 'node:net';
import { createAuthority, expiryOf, isForAll, isIssuedBy, issue, type Pair } from './pair.ts';

const DAY_MS = 24 * 60 * 60_000;
export const VALID_MS = 90 * DAY_MS;
export const RENEW_BEFORE_MS = 7 * DAY_MS;

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
  | { readonly do: 'drop-expired' }
  | { readonly do: 'nothing' };

/** `isTrusted`: the bundle has been in place, everywhere, for a while. */
export function nextStep(held: Held | undefined, hosts: readonly string[], isTrusted: boolean, now: number): Step {
  if (!held || expiryOf(held.authorities[0]) <= now) return { do: 'start-over' };
  const [authority] = held.authorities;
  const endsSoon = (certificate: string) => expiryOf(certificate) - now <= RENEW_BEFORE_MS;
  if (endsSoon(authority)) return { do: 'add-authority' };
  const { certificate } = held.serving;
  const isStale = endsSoon(certificate) || !isIssuedBy(certificate, authority) || !isForAll(certificate, hosts);
  // One that has ended is refused by everybody: waiting could only make it worse.
  if (isStale && (isTrusted || expiryOf(certificate) <= now)) return { do: 'issue' };
  return { do: held.authorities.some((one) => expiryOf(one) <= now) ? 'drop-expired' : 'nothing' };
}

export async function carryOut(
  step: Exclude<Step, { readonly do: 'nothing' }>,
  held: Held | undefined,
  hosts: readonly string[],
  now: number,
): Promise<Held> {
  if (step.do === 'start-over' || !held) {
    const authority = await newAuthority(now);
    const serving = await servingPair(authority, hosts, now);
    return { authorities: [authority.certificate], authorityKey: authority.key, serving };
  }
  const [authority, ...older] = held.authorities;
  const living = older.filter((one) => expiryOf(one) > now);
  switch (step.do) {
    case 'add-authority': {
      const next = await newAuthority(now);
      return { ...held, authorities: [next.certificate, authority, ...living], authorityKey: next.key };
    }
    case 'issue': {
      const serving = await servingPair({ certificate: authority, key: held.authorityKey }, hosts, now);
      return { ...held, serving };
    }
    case 'drop-expired':
      return { ...held, authorities: [authority, ...living] };
  }
}

/** Named after its time: two authorities of one name in a bundle are hard to tell apart for some TLS stacks. */
function newAuthority(now: number): Promise<Pair> {
  return createAuthority({ name: `webhook authority ${new Date(now).toISOString()}`, validMs: VALID_MS, now });
}

function servingPair(authority: Pair, hosts: readonly string[], now: number): Promise<Pair> {
  const [ipAddresses, dnsNames] = [hosts.filter((host) => isIP(host)), hosts.filter((host) => !isIP(host))];
  const name = hosts[0] ?? 'webhook';
  return issue(authority, { name, use: 'server', dnsNames, ipAddresses, validMs: VALID_MS, now });
}
