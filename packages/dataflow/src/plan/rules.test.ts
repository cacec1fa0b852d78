import type { ConfigMap, Deployment, Pod, ReplicaSet } from '@polder/kube';
import { describe, expect, test } from 'vitest';
import {
  aFlow,
  aPod,
  aSecret,
  kafkaSpec,
  liveDeployment,
  NOW,
  observed,
  owned,
  polledSpec,
  settings,
} from '../../test/states.ts';
import type { DataFlow } from '../kinds/index.ts';
import type { Observed } from '../observe.ts';
import { planFlow } from './index.ts';

type Seen = Partial<Observed['children']>;

const polled = liveDeployment(aFlow(polledSpec()));
const shared = liveDeployment(aFlow(kafkaSpec()));
const stopped = liveDeployment(aFlow(polledSpec({ replicas: 0 })), {}, 0);

const setOf = ({ spec }: Deployment, replicas = 0): ReplicaSet => ({
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: { name: 'set' },
  spec: { replicas, selector: {}, ...(spec && { template: spec.template }) },
});

function decide(flow: DataFlow, children: Seen, pods: readonly Pod[] = [], others: readonly ReplicaSet[] = []) {
  const sets = [...(children.deployment ? [setOf(children.deployment)] : []), ...others];
  const { steps, held } = planFlow(flow, observed({ children, pods, sets }), NOW, settings);
  return { steps: steps.map((step) => step.do), held: held.map(({ step, rule, because }) => [step.do, rule, because]) };
}

const metadata = { namespace: 'shop', name: 'df-orders-processor' };
const account = owned({ apiVersion: 'v1', kind: 'ServiceAccount', metadata } as const);
const secrets = owned({ ...aSecret('dataflow-orders-secrets', {}) });

describe('the Secret of a flow that needs none any more', () => {
  const flow = aFlow(kafkaSpec());

  test('goes', () => {
    expect(decide(flow, { secrets, deployment: shared })).toEqual({ steps: ['remove-secrets'], held: [] });
  });

  test('stays while a pod mounts it, or one may still be made', () => {
    const rule = 'a-pod-keeps-what-it-mounts';
    const name = 'dataflow-orders-secrets';
    expect(decide(flow, { secrets, deployment: shared }, [aPod(polled)]).held).toEqual([
      ['remove-secrets', rule, `pod dataflow-orders-1 mounts ${name}`],
    ]);
    const made = [['remove-secrets', rule, `a pod that Deployment dataflow-orders may still make mounts ${name}`]];
    expect(decide(flow, { secrets, deployment: polled }).held).toEqual(made);
    const behind = liveDeployment(flow, { observedGeneration: 0 });
    expect(decide(flow, { secrets, deployment: behind }).held).toEqual(made);
    expect(decide(flow, { secrets, deployment: shared }, [], [setOf(polled, 1)]).held).toEqual(made);
  });
});

describe('the account of a flow that keeps no checkpoint any more', () => {
  const flow = aFlow(polledSpec({ checkpointPersistence: false }));
  const without = liveDeployment(flow);

  test('goes', () => {
    expect(decide(flow, { account, deployment: without })).toEqual({ steps: ['remove-access'], held: [] });
  });

  test('stays until the last pod that runs as it has written its position', () => {
    expect(decide(flow, { account, deployment: without }, [aPod(polled)]).held).toEqual([
      ['remove-access', 'a-pod-keeps-its-access', 'pod dataflow-orders-1 runs as df-orders-processor'],
    ]);
  });
});

describe('a checkpoint is reset', () => {
  const checkpoint = owned({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'shop', name: 'df-orders-checkpoint' },
    data: { postgresql: '{"id":"17"}' },
  } as const);
  const rule = 'a-processor-keeps-its-checkpoint';
  const bySpec = aFlow(polledSpec({ checkpointReset: true }));
  const byAnnotation = aFlow(polledSpec(), {
    metadata: { annotations: { 'dataflow.dataflow.io/reset-checkpoint': 'true' } },
  });

  test.each([
    ['by the spec', bySpec],
    ['by an annotation', byAnnotation],
  ])('once the processor has stopped, if that is asked for %s', (_how, flow) => {
    expect(decide(flow, { checkpoint, deployment: stopped })).toEqual({ steps: ['reset-checkpoint'], held: [] });
    const { objects, status } = planFlow(flow, observed({ children: { deployment: polled } }), NOW, settings);
    expect(objects.at(-1)).toMatchObject({ spec: { replicas: 0 } });
    expect(status).toMatchObject({ phase: 'Stopped', message: 'Processor stopped until its checkpoint is reset' });
  });

  test('and not before: it would write its position once more', () => {
    expect(decide(bySpec, { checkpoint, deployment: stopped }, [aPod(polled)])).toEqual({
      steps: [],
      held: [['reset-checkpoint', rule, 'pod dataflow-orders-1 still runs']],
    });
    expect(decide(bySpec, { checkpoint, deployment: polled })).toEqual({
      steps: [],
      held: [['reset-checkpoint', rule, 'Deployment dataflow-orders is not at 0 yet']],
    });
    const unseen = liveDeployment(aFlow(polledSpec({ replicas: 0 })), { observedGeneration: 0 }, 0);
    expect(decide(bySpec, { checkpoint, deployment: unseen }).held).toHaveLength(1);
  });

  test('or not at all, where none is kept', () => {
    expect(decide(aFlow(kafkaSpec({ checkpointReset: true })), { deployment: shared }, [aPod(shared)]).steps).toEqual([
      'ignore-reset',
    ]);
  });
});

describe('a flow whose source is polled from now on', () => {
  const flow = aFlow(polledSpec());
  const rule = 'a-polled-source-has-one-reader';
  const atZero = liveDeployment(aFlow(kafkaSpec({ replicas: 0 })), {}, 0);

  test('stops all processors before any is shown the new spec', () => {
    expect(decide(flow, { deployment: shared }, [aPod(shared)])).toEqual({
      steps: ['stop-processor'],
      held: [['set-recreate', rule, 'pod dataflow-orders-1 still runs']],
    });
    expect(decide(flow, { deployment: atZero }, [aPod(shared)]).steps).toEqual([]);
    expect(decide(flow, { deployment: atZero }, [], [setOf(polled, 1)]).held).toEqual([
      ['set-recreate', rule, 'Deployment dataflow-orders is not at 0 yet'],
    ]);
    for (const deployment of [shared, atZero]) {
      expect(planFlow(flow, observed({ children: { deployment } }), NOW, settings).objects).toEqual([]);
    }
  });

  test('is told to end pods before it makes others, and then all else', () => {
    expect(decide(flow, { deployment: atZero })).toEqual({ steps: ['set-recreate'], held: [] });
    expect(decide(flow, { deployment: stopped })).toEqual({ steps: [], held: [] });
  });

  test('is not ready before that, even if it is to have no pods', () => {
    const suspended = { maintenance: { suspended: true } };
    const summary = (deployment: Deployment) =>
      planFlow(aFlow(polledSpec(suspended)), observed({ children: { deployment } }), NOW, settings).summary;
    // None of its own: then the steps that are left say how it is doing.
    expect(summary(liveDeployment(aFlow(kafkaSpec(suspended)), {}, 0))).toBeUndefined();
    expect(summary(liveDeployment(aFlow(polledSpec(suspended)), {}, 0))).toEqual({ is: 'ready' });
  });
});

test('a flow with one processor has no disruption budget', () => {
  const budget = owned({
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { namespace: 'shop', name: 'dataflow-orders' },
  } as const);
  expect(decide(aFlow(kafkaSpec()), { budget, deployment: shared }).steps).toEqual(['remove-budget']);
  expect(decide(aFlow(kafkaSpec({ replicas: 2 })), { budget, deployment: shared }).steps).toEqual([]);
});

describe('what has the name of a child and', () => {
  const flow = aFlow(kafkaSpec());
  const config: ConfigMap = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'shop', name: 'dataflow-orders-spec' },
  };
  const planWith = (spec: ConfigMap) => planFlow(flow, observed({ children: { spec } }), NOW, settings);

  test('is somebody else’s, is left alone', () => {
    const { objects, status, summary } = planWith(config);
    expect(objects).toEqual([]);
    expect(status.message).toBe(
      'ConfigMap shop/dataflow-orders-spec belongs to nobody we know; delete it, or give the flow another name',
    );
    expect(summary).toMatchObject({ is: 'stalled', reason: 'NameTaken' });
  });

  test('is of a flow that had this name before, is waited for', () => {
    expect(planWith(owned(config, 'another uid'))).toMatchObject({
      objects: [],
      status: { phase: 'Pending' },
      summary: { is: 'reconciling' },
    });
  });

  test('was left behind by one, is taken over', () => {
    const labels = { 'dataflow.dataflow.io/name': 'orders' };
    expect(planWith({ ...config, metadata: { ...config.metadata, labels } }).objects).toHaveLength(2);
  });
});
