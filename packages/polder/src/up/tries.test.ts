import type { StatefulSet } from '@polder/kube';
import { describe, expect, test } from 'vitest';
import { triesFor, triesOfClusters, triesOfFlows } from './tries.ts';

const deployment = (name: string, namespace = 'default') => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace },
});
const statefulSet = (name: string, more: Partial<NonNullable<StatefulSet['spec']>> = {}): StatefulSet => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name, namespace: 'default' },
  spec: { selector: {}, template: {}, serviceName: name, ...more },
});
const CLAIM = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'data' } } as const;
const commands = (...given: Parameters<typeof triesFor>) => triesFor(...given).map(({ command }) => command);

describe('what to try', () => {
  test('in an empty cluster is to put something into it', () => {
    expect(commands([], [])).toContain('kubectl create deployment hello --image=nginx --replicas=2');
  });

  test('is about what the cluster has, nearest first', () => {
    expect(commands([deployment('far', 'away'), deployment('hello')], [statefulSet('web')])).toEqual([
      'kubectl get pods -o wide',
      'kubectl logs -f deployment/hello',
      'kubectl rollout restart deployment/hello',
      'kubectl delete pod web-0',
    ]);
    expect(commands([deployment('far', 'away')], [])).toEqual([
      'kubectl get pods -o wide -n away',
      'kubectl logs -f deployment/far -n away',
      'kubectl rollout restart deployment/far -n away',
    ]);
  });

  test('names a pod that is there, and promises a volume only where there is one', () => {
    const [, without] = triesFor([], [statefulSet('web', { ordinals: { start: 5 } })]);
    expect(without).toEqual({ command: 'kubectl delete pod web-5', shows: 'it comes back' });
    const [, withClaims] = triesFor([], [statefulSet('db', { volumeClaimTemplates: [CLAIM] })]);
    expect(withClaims?.shows).toBe('it comes back, with its volume');
  });

  test('where there are clusters of Qdrant, is to let the nearest one grow and shrink', () => {
    const cluster = (name: string, namespace: string) => ({
      apiVersion: 'qdrant.operator/v1alpha1',
      kind: 'QdrantCluster',
      metadata: { name, namespace },
      spec: { replicas: 3, image: 'qdrant/qdrant:v1.19.0' },
    });
    expect(
      triesOfClusters([cluster('far', 'away'), cluster('vectors', 'default')]).map(({ command }) => command),
    ).toEqual([
      'kubectl get qdrantclusters -o wide',
      'kubectl get pods -o wide',
      `kubectl patch qdrantcluster vectors --type merge -p '{"spec":{"replicas":5}}'`,
      `kubectl patch qdrantcluster vectors --type merge -p '{"spec":{"replicas":3}}'`,
    ]);
  });

  test('where data flows, is to look, to try a message, and to change the flow that does most', () => {
    const flow = (name: string, transformations: number) => ({
      apiVersion: 'dataflow.dataflow.io/v1',
      kind: 'DataFlow',
      metadata: { name, namespace: 'shop' },
      spec: { source: {}, sink: {}, transformations: Array.from({ length: transformations }, () => ({})) },
    });
    expect(triesOfFlows([flow('copy', 0), flow('orders', 2)]).map(({ command }) => command)).toEqual([
      'kubectl get dataflows -n shop',
      'kubectl get dataflow orders -o yaml -n shop > orders.yaml',
      `echo '{"id":1,"paid":true,"card":"4111"}' | ./polder try -f orders.yaml`,
      './polder plan -f orders.yaml',
      'kubectl apply -f orders.yaml',
    ]);
  });
});
