import { expect, test } from 'vitest';
import { addressesOf, clusterName } from './names.ts';

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

const names = { 'qdrant.prod': ['127.64.0.2', '127.64.0.3'], 'qdrant-0.qdrant.prod': ['127.64.0.2'] };

test.each([
  ['qdrant', 'prod', ['127.64.0.2', '127.64.0.3']],
  ['qdrant', 'test', []],
  ['qdrant', undefined, []],
  ['qdrant.prod.svc', 'test', ['127.64.0.2', '127.64.0.3']],
  ['qdrant-0.qdrant.prod.svc.cluster.local', 'test', ['127.64.0.2']],
  ['qdrant-1.qdrant.prod', 'prod', []],
  ['constructor', 'prototype', []],
  ['example.com', 'prod', []],
])('%s leads a program of namespace %s to %j', (host, namespace, expected) => {
  expect(addressesOf(host, names, namespace)).toEqual(expected);
});
