import { isIP } from 'node:net';
import type { Environment } from '@marcbachmann/cel-js';
import { registerNamespace } from './namespace.ts';

const groupsOf = (part: string) => (part === '' ? [] : part.split(':'));

/** An address as a number, so that masks and ranges are arithmetic. */
class Ip {
  readonly family: 4 | 6;
  readonly bits: bigint;

  constructor(family: 4 | 6, bits: bigint) {
    this.family = family;
    this.bits = bits;
  }

  /** undefined for what Kubernetes refuses as well: zones, IPv4 written as IPv6, leading zeros. */
  static parse(text: string): Ip | undefined {
    const family = isIP(text);
    if (family === 4)
      return new Ip(
        4,
        text.split('.').reduce((bits, part) => (bits << 8n) | BigInt(part), 0n),
      );
    if (family !== 6 || text.includes('%') || text.includes('.')) return undefined;
    const [head = '', tail] = text.split('::');
    const before = groupsOf(head);
    const after = groupsOf(tail ?? '');
    const missing = tail === undefined ? [] : Array.from({ length: 8 - before.length - after.length }, () => '0');
    const bits = [...before, ...missing, ...after].reduce((sum, group) => (sum << 16n) | BigInt(`0x${group}`), 0n);
    return bits >> 32n === 0xffffn ? undefined : new Ip(6, bits);
  }

  get size(): number {
    return this.family === 4 ? 32 : 128;
  }

  within(network: bigint, prefix: number): boolean {
    const shift = BigInt(this.size - prefix);
    return this.bits >> shift === network >> shift;
  }

  equals(other: unknown): boolean {
    return other instanceof Ip && other.family === this.family && other.bits === this.bits;
  }

  toString(): string {
    const size = this.family === 4 ? 8 : 16;
    const count = this.size / size;
    const mask = (1n << BigInt(size)) - 1n;
    const groups = Array.from(
      { length: count },
      (_, index) => (this.bits >> BigInt((count - 1 - index) * size)) & mask,
    );
    if (this.family === 4) return groups.join('.');
    const run = longestZeros(groups);
    const hex = groups.map((group) => group.toString(16));
    if (run === undefined) return hex.join(':');
    return `${hex.slice(0, run.start).join(':')}::${hex.slice(run.start + run.length).join(':')}`;
  }
}

/** The part that RFC 5952 writes as `::`: the first of the longest runs of at least two. */
function longestZeros(groups: readonly bigint[]): { start: number; length: number } | undefined {
  let best: { start: number; length: number } | undefined;
  for (let start = 0; start < groups.length; start++) {
    const end = groups.findIndex((group, index) => index >= start && group !== 0n);
    const length = (end < 0 ? groups.length : end) - start;
    if (length >= 2 && length > (best?.length ?? 0)) best = { start, length };
  }
  return best;
}

class Cidr {
  readonly ip: Ip;
  readonly prefix: number;

  constructor(ip: Ip, prefix: number) {
    this.ip = ip;
    this.prefix = prefix;
  }

  static parse(text: string): Cidr | undefined {
    const [, address = '', prefix = ''] = /^([^/]+)\/(0|[1-9]\d{0,2})$/.exec(text) ?? [];
    const ip = Ip.parse(address);
    return ip !== undefined && Number(prefix) <= ip.size ? new Cidr(ip, Number(prefix)) : undefined;
  }

  contains(ip: Ip): boolean {
    return ip.family === this.ip.family && ip.within(this.ip.bits, this.prefix);
  }

  masked(): Cidr {
    const shift = BigInt(this.ip.size - this.prefix);
    return new Cidr(new Ip(this.ip.family, (this.ip.bits >> shift) << shift), this.prefix);
  }

  equals(other: unknown): boolean {
    return other instanceof Cidr && other.prefix === this.prefix && other.ip.equals(this.ip);
  }

  toString(): string {
    return `${this.ip.toString()}/${this.prefix}`;
  }
}

function ipOf(text: string): Ip {
  const ip = Ip.parse(text);
  if (ip === undefined) throw new Error(`IP Address "${text}" parse error during conversion from string`);
  return ip;
}

function cidrOf(text: string): Cidr {
  const cidr = Cidr.parse(text);
  if (cidr === undefined) throw new Error(`CIDR "${text}" parse error during conversion from string`);
  return cidr;
}

const IP = 'net.IP';
const CIDR = 'net.CIDR';
const v4 = (text: string) => ipOf(text).bits;

const isLoopback = (ip: Ip) => (ip.family === 4 ? ip.within(v4('127.0.0.0'), 8) : ip.bits === 1n);
const isUnspecified = (ip: Ip) => ip.bits === 0n;
const isLinkLocalUnicast = (ip: Ip) =>
  ip.family === 4 ? ip.within(v4('169.254.0.0'), 16) : ip.bits >> 118n === 0x3fan;
const isLinkLocalMulticast = (ip: Ip) =>
  ip.family === 4 ? ip.within(v4('224.0.0.0'), 24) : ip.bits >> 112n === 0xff02n;
const isMulticast = (ip: Ip) => (ip.family === 4 ? ip.within(v4('224.0.0.0'), 4) : ip.bits >> 120n === 0xffn);
const isBroadcast = (ip: Ip) => ip.family === 4 && ip.bits === 0xffffffffn;

export function registerIp(env: Environment): void {
  env.registerType(IP, { ctor: Ip });
  env.registerOperator(`${IP} == ${IP}`, (a: Ip, b: Ip) => a.equals(b));
  env.registerFunction('isIP(string): bool', (text: string) => Ip.parse(text) !== undefined);
  env.registerFunction(`ip(string): ${IP}`, ipOf);
  env.registerFunction(`string(${IP}): string`, (ip: Ip) => ip.toString());
  const namespace = registerNamespace(env, 'ip');
  env.registerFunction(
    `${namespace}.isCanonical(string): bool`,
    (_: unknown, text: string) => ipOf(text).toString() === text,
  );
  env.registerFunction(`${IP}.family(): int`, (ip: Ip) => BigInt(ip.family));
  env.registerFunction(`${IP}.isUnspecified(): bool`, isUnspecified);
  env.registerFunction(`${IP}.isLoopback(): bool`, isLoopback);
  env.registerFunction(`${IP}.isLinkLocalUnicast(): bool`, isLinkLocalUnicast);
  env.registerFunction(`${IP}.isLinkLocalMulticast(): bool`, isLinkLocalMulticast);
  env.registerFunction(
    `${IP}.isGlobalUnicast(): bool`,
    (ip: Ip) => ![isUnspecified, isLoopback, isLinkLocalUnicast, isMulticast, isBroadcast].some((is) => is(ip)),
  );

  env.registerType(CIDR, { ctor: Cidr });
  env.registerOperator(`${CIDR} == ${CIDR}`, (a: Cidr, b: Cidr) => a.equals(b));
  env.registerFunction('isCIDR(string): bool', (text: string) => Cidr.parse(text) !== undefined);
  env.registerFunction(`cidr(string): ${CIDR}`, cidrOf);
  env.registerFunction(`string(${CIDR}): string`, (cidr: Cidr) => cidr.toString());
  env.registerFunction(`${CIDR}.containsIP(string): bool`, (cidr: Cidr, text: string) => cidr.contains(ipOf(text)));
  env.registerFunction(`${CIDR}.containsIP(${IP}): bool`, (cidr: Cidr, ip: Ip) => cidr.contains(ip));
  const containsCidr = (cidr: Cidr, other: Cidr) => other.prefix >= cidr.prefix && cidr.contains(other.ip);
  env.registerFunction(`${CIDR}.containsCIDR(string): bool`, (cidr: Cidr, text: string) =>
    containsCidr(cidr, cidrOf(text)),
  );
  env.registerFunction(`${CIDR}.containsCIDR(${CIDR}): bool`, containsCidr);
  env.registerFunction(`${CIDR}.ip(): ${IP}`, (cidr: Cidr) => cidr.ip);
  env.registerFunction(`${CIDR}.masked(): ${CIDR}`, (cidr: Cidr) => cidr.masked());
  env.registerFunction(`${CIDR}.prefixLength(): int`, (cidr: Cidr) => BigInt(cidr.prefix));
}
