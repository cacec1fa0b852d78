import type { Endpoint, EndpointSlice } from '@polder/kube';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MOST_ENDPOINTS, pack, portsKey } from './slices.ts';

const LABELS = { app: 'web' };
const endpoint = (number: number, ready: boolean): Endpoint => ({
  addresses: [`10.0.0.${number}`],
  conditions: { ready },
  targetRef: { kind: 'Pod', namespace: 'n', name: `p-${number}` },
});
const slice = (name: string, endpoints: readonly Endpoint[]): EndpointSlice => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name, labels: LABELS },
  addressType: 'IPv4',
  endpoints,
});

/** Any slices, each pod in at most one of them. */
const anySlices = fc
  .array(fc.record({ number: fc.nat({ max: 400 }), ready: fc.boolean(), slice: fc.nat({ max: 4 }) }), {
    maxLength: 350,
    size: 'max',
  })
  .map((all) => {
    const unique = [...new Map(all.map((one) => [one.number, one])).values()];
    const names = [...new Set(unique.map((one) => one.slice))];
    return names.map((name) => {
      const own = unique.filter((one) => one.slice === name).slice(0, MOST_ENDPOINTS);
      return slice(
        `s-${name}`,
        own.map(({ number, ready }) => endpoint(number, ready)),
      );
    });
  });
const anyEndpoints = fc
  .uniqueArray(fc.record({ number: fc.nat({ max: 400 }), ready: fc.boolean() }), {
    selector: ({ number }) => number,
    maxLength: 350,
    size: 'max',
  })
  .map((all) => all.map(({ number, ready }) => endpoint(number, ready)));

const sorted = (endpoints: readonly Endpoint[]) =>
  endpoints.toSorted((a, b) => (a.addresses.join() < b.addresses.join() ? -1 : 1));

test('whatever was there, afterwards every endpoint is in exactly one slice, and no slice has too many', () => {
  fc.assert(
    fc.property(anySlices, anyEndpoints, (existing, desired) => {
      const { updated, created, deleted } = pack(existing, desired, LABELS);
      const written = new Set([...updated, ...deleted].map(({ metadata }) => metadata.name));
      const untouched = existing.filter(({ metadata }) => !written.has(metadata.name));
      const after = [...untouched, ...updated].map(({ endpoints = [] }) => endpoints).concat(created);
      expect(sorted(after.flat())).toEqual(sorted(desired));
      for (const endpoints of after) expect(endpoints.length).toBeLessThanOrEqual(MOST_ENDPOINTS);
    }),
  );
});

test('packing what is packed writes nothing', () => {
  fc.assert(
    fc.property(anySlices, anyEndpoints, (existing, desired) => {
      const { updated, created, deleted } = pack(existing, desired, LABELS);
      const written = new Set([...updated, ...deleted].map(({ metadata }) => metadata.name));
      const untouched = existing.filter(({ metadata }) => !written.has(metadata.name));
      const made = created.map((endpoints, i) => slice(`new-${i}`, endpoints));
      const after = [...untouched, ...updated, ...made];
      expect(pack(after, desired, LABELS)).toEqual({ updated: [], created: [], deleted: [] });
    }),
  );
});

test('what stays as it is keeps its slice, and a slice in which nothing changed is written only to take in new endpoints', () => {
  fc.assert(
    fc.property(anySlices, anyEndpoints, (existing, desired) => {
      const { updated } = pack(existing, desired, LABELS);
      const wanted = new Set(desired.map((one) => JSON.stringify(one)));
      for (const after of updated) {
        const before = existing.find(({ metadata }) => metadata.name === after.metadata.name)?.endpoints ?? [];
        const kept = before.filter((one) => wanted.has(JSON.stringify(one)));
        expect(after.endpoints).toEqual(expect.arrayContaining(kept));
        if (kept.length === before.length) expect(after.endpoints?.length).toBeGreaterThan(before.length);
      }
    }),
  );
});

test('the order of ports makes no other ports', () => {
  const [a, b] = [
    { name: 'a', port: 1, protocol: 'TCP' as const },
    { name: 'b', port: 2, protocol: 'UDP' as const },
  ];
  expect(portsKey([a, b])).toBe(portsKey([b, a]));
  expect(portsKey([a])).not.toBe(portsKey([{ ...a, port: 3 }]));
});
