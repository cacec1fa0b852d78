import { expect, test } from 'vitest';
import type { ClusterSpec } from '../../kinds/index.ts';
import { specHash } from './spec-hash.ts';

const image = 'qdrant/qdrant:v1.16.3';
const off = { apikey: 'false', readApikey: 'false', tls: { enabled: false } };

test.each<[ClusterSpec, string]>([
  [
    {
      replicas: 3,
      image,
      ...off,
      apikey: 'testkey',
      resources: { limits: { cpu: '1000m' } },
      persistence: { size: '1Gi' },
      service: 'ClusterIP',
    },
    'b1e2ef873ad6ac8e',
  ],
  [{ replicas: 1, image, ...off, resources: {}, service: 'ClusterIP' }, '3236db606c059952'],
  [{ replicas: 1, image }, 'd56411e6359538b3'],
])('a spec has the hash that the upstream operator gives it', (spec, hash) => {
  expect(specHash(spec)).toBe(hash);
});

test('where pods run is not in it, nor the order of inner fields', () => {
  const spec: ClusterSpec = { replicas: 1, image };
  expect(specHash({ ...spec, tolerations: [{ key: 'a' }], nodeAffinity: {} })).toBe(specHash(spec));
  const [a, b] = [
    { cpu: '1', memory: '1Gi' },
    { memory: '1Gi', cpu: '1' },
  ];
  expect(specHash({ ...spec, resources: { limits: a } })).toBe(specHash({ ...spec, resources: { limits: b } }));
});
