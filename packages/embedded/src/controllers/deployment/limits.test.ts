import type { Deployment, IntOrString } from '@polder/kube';
import { expect, test } from 'vitest';
import { maxSurge, maxUnavailable, minAvailable } from './limits.ts';

const rolling = (replicas: number, surge: IntOrString, unavailable: IntOrString): Deployment => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    replicas,
    selector: {},
    template: {},
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: surge, maxUnavailable: unavailable } },
  },
});

test.each<[number, IntOrString, IntOrString, { surge: number; unavailable: number; available: number }]>([
  [4, '25%', '25%', { surge: 1, unavailable: 1, available: 3 }],
  [3, '25%', '25%', { surge: 1, unavailable: 0, available: 3 }],
  [10, 3, 2, { surge: 3, unavailable: 2, available: 8 }],
  [1, '1%', '99%', { surge: 1, unavailable: 0, available: 1 }],
  [2, 0, '1%', { surge: 0, unavailable: 1, available: 1 }],
  [2, 0, 5, { surge: 0, unavailable: 2, available: 0 }],
  [10, '150%', 0, { surge: 15, unavailable: 0, available: 10 }],
  [0, '25%', '25%', { surge: 0, unavailable: 0, available: 0 }],
])('of %d pods, a surge of %j and %j unavailable allow %j', (replicas, surge, unavailable, expected) => {
  const deployment = rolling(replicas, surge, unavailable);
  expect({
    surge: maxSurge(deployment),
    unavailable: maxUnavailable(deployment),
    available: minAvailable(deployment),
  }).toEqual(expected);
});

test('with Recreate there is neither a surge nor leave to be unavailable', () => {
  const { spec, ...rest } = rolling(3, 1, 1);
  const recreate: Deployment = {
    ...rest,
    spec: { selector: {}, template: {}, ...spec, strategy: { type: 'Recreate' } },
  };
  expect([maxSurge(recreate), maxUnavailable(recreate)]).toEqual([0, 0]);
});
