import type { Condition } from '@polder/kube';
import { describe, expect, test } from 'vitest';
import {
  aFlow,
  kafkaSpec,
  liveDeployment,
  NOW,
  observed,
  owned,
  polledSpec,
  secretsOf,
  settings,
} from '../../test/states.ts';
import type { DataFlow } from '../kinds/index.ts';
import type { Observed } from '../observe.ts';
import { planFlow } from './index.ts';

const flow = aFlow(kafkaSpec());
const events = (of: DataFlow, seen: Observed) =>
  (planFlow(of, seen, NOW, settings).events ?? []).map(({ type, reason, note }) => `${type} ${reason}: ${note}`);

function childrenOf(of: DataFlow) {
  const { objects } = planFlow(of, observed(), NOW, settings);
  const spec = objects.find((object) => object.metadata.name === 'dataflow-orders-spec');
  const data: Readonly<Record<string, string>> = JSON.parse(JSON.stringify(spec && 'data' in spec ? spec.data : {}));
  const config = { apiVersion: 'v1', kind: 'ConfigMap', metadata: spec?.metadata ?? { name: '' }, data } as const;
  return { spec: owned(config), deployment: liveDeployment(of) };
}

/** A flow whose last pass ended so. */
function after(phase: 'Running' | 'Error' | 'Stopped' | 'Pending', reason: string, of = flow): DataFlow {
  const ready: Condition = {
    type: 'Ready',
    status: 'False',
    reason,
    message: '',
    lastTransitionTime: NOW.toISOString(),
  };
  return { ...of, status: { phase, conditions: [{ ...ready }] } };
}

describe('events', () => {
  test('tell what was created for a new flow', () => {
    expect(events(flow, observed())).toEqual([
      'Normal ConfigMapCreated: Created ConfigMap dataflow-orders-spec',
      'Normal DeploymentCreated: Created Deployment dataflow-orders',
    ]);
  });

  test('tell what a new spec changed', () => {
    const changed = after('Running', 'Ready', aFlow(kafkaSpec({ channelBufferSize: 5 })));
    expect(events(changed, observed({ children: childrenOf(flow) }))).toEqual([
      'Normal ConfigMapUpdated: Updated ConfigMap dataflow-orders-spec',
      'Normal DeploymentUpdated: Updated Deployment dataflow-orders',
    ]);
  });

  test('tell nothing of a flow that is as it was, nor that a new one begins to run', () => {
    const seen = observed({ children: childrenOf(flow) });
    expect(events(after('Running', 'Ready'), seen)).toEqual([]);
    expect(events(after('Pending', 'ProcessorStarting'), seen)).toEqual([]);
  });

  test('tell once why a flow can not be run, and that it runs again', () => {
    const polled = aFlow(polledSpec());
    const nothing = observed({ secrets: secretsOf() });
    expect(events(polled, nothing)[0]).toMatch(/^Warning SecretResolutionFailed: Failed to resolve secrets: /);
    expect(events(after('Error', 'SecretResolutionFailed', polled), nothing)).toEqual([]);
    expect(events(after('Error', 'SecretResolutionFailed'), observed({ children: childrenOf(flow) }))).toEqual([
      'Normal ProcessorRunning: Processor pod is running',
    ]);
  });

  test('tell that a flow was stopped', () => {
    const suspended = aFlow(kafkaSpec({ maintenance: { suspended: true } }));
    expect(events(after('Running', 'Ready', suspended), observed({ children: childrenOf(flow) })).at(-1)).toBe(
      'Normal ProcessorStopped: Processor suspended manually',
    );
  });
});

test('a flow that is deleted and kept by somebody’s finalizer ends all the same', () => {
  const deleted = aFlow(kafkaSpec(), { metadata: { deletionTimestamp: NOW.toISOString() } });
  const { steps, status, events: told } = planFlow(deleted, observed({ children: childrenOf(flow) }), NOW, settings);
  expect(steps.map((step) => step.do)).toEqual(['remove-processor']);
  expect(status.phase).toBe('Stopped');
  expect(told?.map(({ reason, note }) => `${reason}: ${note}`)).toEqual([
    'ResourcesDeleted: Deleted Deployment and ConfigMap',
  ]);
  expect(planFlow(deleted, observed(), NOW, settings)).toMatchObject({ steps: [], events: [] });
});
