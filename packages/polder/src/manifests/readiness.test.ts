import { expect, test } from 'vitest';
import { readinessOf } from './readiness.ts';

const flow = (status?: object) => ({
  apiVersion: 'dataflow.dataflow.io/v1',
  kind: 'DataFlow',
  metadata: { name: 'orders', namespace: 'default', generation: 2 },
  ...(status && { status }),
});
const UNSEEN = { isReady: false, because: 'it has not been looked at yet' };

test('a flow that nobody has looked at yet, or only before its last change, is not ready', () => {
  const conditions = [{ type: 'Ready', status: 'True', message: 'Ready' }];
  expect(readinessOf(flow())).toEqual(UNSEEN);
  expect(readinessOf(flow({ observedGeneration: 1, conditions }))).toEqual(UNSEEN);
  expect(readinessOf(flow({ observedGeneration: 2, conditions }))).toEqual({ isReady: true, because: 'Ready' });
});

test('what nobody looks at is ready when it is there', () => {
  const config = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'default' } };
  expect(readinessOf(config)).toEqual({ isReady: true, because: 'it is there' });
});
