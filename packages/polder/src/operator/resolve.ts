import type { Resolve } from '@polder/kube';

/** `10.244.*:9090` is to be reached at `127.0.0.1:19090`. */
export interface ResolveRule {
  readonly pattern: string;
  readonly to: string;
}

/** `host:port`; an address of version 6 is in brackets. */
const ADDRESS = /^(?:\[[^\]\s]+\]|[^:[\]\s]+):(?<port>\d{1,5}|\*)$/;

export function isPattern(text: string): boolean {
  const { port } = ADDRESS.exec(text)?.groups ?? {};
  return port !== undefined && (port === '*' || isPort(port));
}

export function isAddress(text: string): boolean {
  return isPattern(text) && !text.includes('*');
}

const isPort = (port: string) => Number(port) >= 1 && Number(port) <= 65_535;

/** The most specific rule that fits decides; an address that none fits is reached as it is. */
export function resolverOf(rules: readonly ResolveRule[]): Resolve {
  const ordered = rules.toSorted((a, b) => literalsIn(b.pattern) - literalsIn(a.pattern)).map(compiled);
  return (address) => ordered.find(({ fits }) => fits.test(address))?.to ?? address;
}

/** The more of an address a pattern says, the more specific it is. */
const literalsIn = (pattern: string) => pattern.replaceAll('*', '').length;

function compiled({ pattern, to }: ResolveRule): { readonly fits: RegExp; readonly to: string } {
  const parts = pattern.split('*').map((part) => RegExp.escape(part));
  return { fits: new RegExp(`^${parts.join('.*')}$`), to };
}
