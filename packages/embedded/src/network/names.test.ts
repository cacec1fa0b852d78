import { expect, test } from 'vitest';
import { clusterName } from './names.ts';

const service = { is: 'service', service: 'qdrant', namespace: 'prod' };
const pod = { is: 'pod', hostname: 'qdrant-0', service: 'qdrant', namespace: 'prod' };

test.each([
  ['qdrant.prod', service],
  ['qdrant.prod.svc', service],
  ['qdrant.prod.svc.cluster.local', service],
  ['Qdrant.Prod.SVC.cluster.local.', service],
  ['qdrant-0.qdrant.prod', pod],
  ['qdrant-0.qdrant.prod.svc', pod],
  ['qdrant-0.qdrant.prod.svc.cluster.local', pod],
  // A single word: nobody could know the namespace.
  ['qdrant', undefined],
  ['qdrant.svc', undefined],
  ['10.96.0.10', undefined],
  ['::1', undefined],
  ['a.b.c.d.example.com', undefined],
  ['', undefined],
])('%s stands for %o', (host, expected) => {
  expect(clusterName(host)).toEqual(expected);
});
