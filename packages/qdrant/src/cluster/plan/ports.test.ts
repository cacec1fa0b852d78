import type { Service, ServicePort } from '@polder/kube';
import { expect, test } from 'vitest';
import { look, NOTHING, NOW } from '../../../test/states.ts';
import { clientService } from '../objects/index.ts';
import { correctingPorts } from './ports.ts';
import { situationOf } from './situation.ts';

/** What becomes of the ports of the Service for clients, if it has these. */
function corrected(ports: readonly ServicePort[]): readonly ServicePort[] | undefined {
  const service: Service = { ...clientService(look().cluster), spec: { ports: [...ports] } };
  const { cluster, observed } = look({ observed: { children: { ...NOTHING, service } } });
  return correctingPorts(situationOf(cluster, observed, NOW))[0]?.ports;
}

const http: ServicePort = { name: 'http', port: 6333, targetPort: 'http', protocol: 'TCP', nodePort: 30_333 };
const grpc: ServicePort = { name: 'grpc', port: 6334, targetPort: 'grpc', protocol: 'TCP', nodePort: 30_334 };

test('ports that are as they should be, and those that others add, are left alone', () => {
  expect(corrected([http, grpc, { name: 'metrics', port: 9090 }])).toBeUndefined();
});

test('a port that somebody gave another number gets its own back, and keeps what the server chose for it', () => {
  expect(corrected([{ ...http, port: 80 }, grpc, { name: 'metrics', port: 9090 }])).toEqual([
    http,
    grpc,
    { name: 'metrics', port: 9090 },
  ]);
});

test('whoever took its number meanwhile gives it up', () => {
  expect(corrected([{ ...http, port: 80 }, grpc, { name: 'web', port: 6333 }])).toEqual([http, grpc]);
});
