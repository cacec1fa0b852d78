import { expect, test } from 'vitest';
import type { WireObject } from '../served-kind.ts';
import { allocate } from './service.ts';

const allocator = { address: () => '10.96.0.7', nodePort: () => 30_007 };

const service = (spec: object): WireObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 's', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
  spec,
});

const port = { port: 80, protocol: 'TCP', targetPort: 80 };

test('a service gets an address, and keeps the one it has', () => {
  const created = allocate(service({ type: 'ClusterIP', ports: [port] }), undefined, allocator);
  expect(created['spec']).toMatchObject({ clusterIP: '10.96.0.7', clusterIPs: ['10.96.0.7'] });
  const old = service({ type: 'ClusterIP', clusterIP: '10.96.0.1', clusterIPs: ['10.96.0.1'], ports: [port] });
  expect(allocate(service({ type: 'ClusterIP', ports: [port] }), old, allocator)['spec']).toMatchObject({
    clusterIP: '10.96.0.1',
  });
  const headless = service({ type: 'ClusterIP', clusterIP: 'None', ports: [port] });
  expect(allocate(headless, undefined, allocator)['spec']).toMatchObject({ clusterIP: 'None', clusterIPs: ['None'] });
});

test('node ports are given to types that have them, and kept by their port', () => {
  const created = allocate(service({ type: 'NodePort', ports: [port] }), undefined, allocator);
  expect(created['spec']).toMatchObject({ ports: [{ port: 80, nodePort: 30_007 }] });
  const old = service({ type: 'NodePort', clusterIP: '10.96.0.1', ports: [{ ...port, nodePort: 31_000 }] });
  const updated = allocate(service({ type: 'NodePort', ports: [{ ...port, port: 81 }, port] }), old, allocator);
  expect(updated['spec']).toMatchObject({ ports: [{ nodePort: 30_007 }, { nodePort: 31_000 }] });
});

test('a name for another host needs nothing', () => {
  const alias = service({ type: 'ExternalName', externalName: 'a.b' });
  expect(allocate(alias, undefined, allocator)).toBe(alias);
});
