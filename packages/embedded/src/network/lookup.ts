/**
 * Loaded into the Node programs of the cluster (`node --import`): names of services and pods lead to their addresses, as DNS
 * would have it elsewhere. The names are in a file (`POLDER_NAMES`), which the cluster keeps current.
 */
import dns from 'node:dns';
import { readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { addressesOf } from './names.ts';

type Answer = (error: Error | null, address?: string | readonly dns.LookupAddress[], family?: number) => void;

const { lookup: elsewhere } = dns;
const { lookup: elsewherePromised } = dns.promises;

/** Asked anew each time: pods come and go, and connections are made seldom. */
function known(host: string): readonly dns.LookupAddress[] {
  const { POLDER_NAMES: file, POLDER_NAMESPACE: namespace } = process.env;
  if (file === undefined) return [];
  try {
    const names: Readonly<Record<string, readonly string[]>> = JSON.parse(readFileSync(file, 'utf8'));
    return addressesOf(host, names, namespace).map((address) => ({ address, family: 4 }));
  } catch {
    // The cluster is on its way up or down: then there are no names.
    return [];
  }
}

function lookup(host: string, given: dns.LookupOptions | number | Answer, last?: Answer): void {
  const [first, ...more] = known(host);
  const answer = typeof given === 'function' ? given : last;
  if (first === undefined || answer === undefined) return void Reflect.apply(elsewhere, dns, [host, given, last]);
  const wantsAll = typeof given === 'object' && given.all === true;
  process.nextTick(() => (wantsAll ? answer(null, [first, ...more]) : answer(null, first.address, first.family)));
}

async function lookupPromised(host: string, options: dns.LookupOptions | number = {}): Promise<unknown> {
  const [first, ...more] = known(host);
  if (first === undefined) return Reflect.apply(elsewherePromised, dns.promises, [host, options]);
  return typeof options === 'object' && options.all === true ? [first, ...more] : first;
}

Object.assign(dns, { lookup });
Object.assign(dns.promises, { lookup: lookupPromised });
syncBuiltinESMExports();
