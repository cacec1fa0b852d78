import type { ContainerStatus, Deployment, PodStatus } from '@polder/kube';
import { describe, expect, test } from 'vitest';
import {
  aFlow,
  aPod,
  aReading,
  kafkaSpec,
  liveDeployment,
  NOW,
  observed,
  podIn,
  polledSpec,
  secretsOf,
  settings,
} from '../../test/states.ts';
import type { DataFlow, GivenSpec } from '../kinds/index.ts';
import type { Observed } from '../observe.ts';
import { planFlow } from './index.ts';

const plan = (flow: DataFlow, seen: Observed) => planFlow(flow, seen, NOW, settings);

/** What a user reads, and how the flow is doing in the words of the conditions. */
function told(flow: DataFlow, seen: Observed) {
  const { status, summary } = plan(flow, seen);
  return { phase: status.phase, message: status.message, summary };
}

const flow = aFlow(kafkaSpec());
const live = liveDeployment(flow);
const seen = (deployment: Deployment, pods: Observed['pods'] = []) => observed({ children: { deployment }, pods });
const starting = { is: 'reconciling', reason: 'ProcessorStarting' };

describe('a flow says how its Deployment is doing', () => {
  test.each<[string, Observed, object]>([
    ['before there is one', observed(), { phase: 'Pending', message: 'Processor pod is starting', summary: starting }],
    [
      'while its pod starts',
      seen(liveDeployment(flow, { readyReplicas: 0 })),
      { phase: 'Pending', message: 'Processor pod is starting', summary: starting },
    ],
    [
      'when its pod is ready',
      seen(live),
      { phase: 'Running', message: 'Processor pod is running', summary: { is: 'ready' } },
    ],
    [
      'while nobody has seen the new spec of it',
      seen(liveDeployment(flow, { observedGeneration: 0 })),
      { phase: 'Running', message: 'Processor pod is running', summary: starting },
    ],
    [
      'while its pod is replaced',
      seen(liveDeployment(aFlow(kafkaSpec({ channelBufferSize: 5 })))),
      { phase: 'Running', message: 'Processor pod is being replaced', summary: starting },
    ],
    [
      'while an old pod is still there',
      seen(liveDeployment(flow, { replicas: 2 })),
      { phase: 'Running', message: 'Processor pod is being replaced', summary: starting },
    ],
    [
      'when it gets no pods',
      seen(
        liveDeployment(flow, {
          readyReplicas: 0,
          conditions: [{ type: 'ReplicaFailure', status: 'True', message: 'exceeded quota' }],
        }),
      ),
      {
        phase: 'Error',
        message: "Processor pod can't be made: exceeded quota",
        summary: { is: 'stalled', reason: 'PodRefused' },
      },
    ],
    [
      'when it never becomes ready',
      seen(
        liveDeployment(flow, {
          readyReplicas: 0,
          conditions: [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }],
        }),
      ),
      { phase: 'Pending', summary: { is: 'reconciling', reason: 'ProcessorNotReady' } },
    ],
  ])('%s', (_when, state, expected) => {
    expect(told(flow, state)).toMatchObject(expected);
  });

  test('that two of three processors run', () => {
    const three = aFlow(kafkaSpec({ replicas: 3 }));
    expect(told(three, seen(liveDeployment(three, { readyReplicas: 2 }, 3)))).toMatchObject({
      phase: 'Running',
      message: '2 of 3 processor pods are running',
      summary: starting,
    });
  });
});

describe('a flow says why its processor does not run', () => {
  const down = liveDeployment(flow, { readyReplicas: 0 });
  const failed = { exitCode: 1, message: 'starting\npolder: cannot connect to k:9092\n' };

  test.each<[string, Partial<ContainerStatus>, string, string]>([
    [
      'it crashes',
      { state: { waiting: { reason: 'CrashLoopBackOff' } }, lastState: { terminated: failed } },
      'ProcessorFailed',
      'Processor failed with exit code 1: polder: cannot connect to k:9092',
    ],
    [
      'it runs again after a crash, and is not ready yet',
      { state: { running: {} }, lastState: { terminated: failed } },
      'ProcessorFailed',
      'Processor failed with exit code 1: polder: cannot connect to k:9092',
    ],
    [
      'it has crashed this moment',
      { state: { terminated: failed } },
      'ProcessorFailed',
      'Processor failed with exit code 1: polder: cannot connect to k:9092',
    ],
    [
      'it used too much memory',
      {
        state: { waiting: { reason: 'CrashLoopBackOff' } },
        lastState: { terminated: { exitCode: 137, reason: 'OOMKilled' } },
      },
      'ProcessorFailed',
      'Processor failed with exit code 137: OOMKilled',
    ],
    [
      'its image is not there',
      { image: 'polder:9', state: { waiting: { reason: 'ErrImagePull', message: 'manifest unknown' } } },
      'ImagePullFailed',
      "Processor image polder:9 can't be pulled: manifest unknown",
    ],
    [
      'its image is still not there',
      {
        image: 'polder:9',
        state: {
          waiting: { reason: 'ImagePullBackOff', message: 'Back-off pulling image "polder:9": manifest unknown' },
        },
      },
      'ImagePullFailed',
      "Processor image polder:9 can't be pulled: manifest unknown",
    ],
    [
      'its image has no user',
      {
        state: {
          waiting: {
            reason: 'CreateContainerConfigError',
            message: 'container has runAsNonRoot and image will run as root',
          },
        },
      },
      'ContainerFailed',
      "Processor can't be started: container has runAsNonRoot and image will run as root",
    ],
  ])('if %s', (_when, container, reason, message) => {
    expect(told(flow, seen(down, [podIn(down, container)]))).toEqual({
      phase: 'Error',
      message,
      summary: { is: 'stalled', reason, because: message },
    });
  });

  test('if no node has room for it', () => {
    const conditions = [
      { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/3 nodes are available' },
    ];
    const pod = aPod(down, { conditions } satisfies PodStatus);
    expect(told(flow, seen(down, [pod]))).toMatchObject({
      phase: 'Pending',
      message: "Processor pod can't be placed: 0/3 nodes are available",
      summary: { is: 'reconciling', reason: 'Unschedulable' },
    });
  });

  test('and runs all the same if another one does', () => {
    const pods = [podIn(live, { state: { terminated: failed } })];
    expect(told(flow, seen(liveDeployment(flow, { replicas: 2 }), pods))).toMatchObject({
      phase: 'Running',
      message: expect.stringContaining('Processor pod is running; another one does not: Processor failed'),
      summary: { is: 'stalled', reason: 'ProcessorFailed' },
    });
  });

  test('but not because a pod of an earlier spec does not, or one that ends', () => {
    const before = liveDeployment(aFlow(kafkaSpec({ channelBufferSize: 5 })), { readyReplicas: 0 });
    const ending = podIn(down, { state: { terminated: failed } });
    const pods = [
      podIn(before, { state: { terminated: failed } }),
      { ...ending, metadata: { ...ending.metadata, deletionTimestamp: '2026-03-01T12:00:00Z' } },
    ];
    expect(told(flow, seen(down, pods))).toMatchObject({ phase: 'Pending', message: 'Processor pod is starting' });
  });
});

describe('a flow that can not be run', () => {
  const deployment = liveDeployment(aFlow(polledSpec()));

  test.each<[string, GivenSpec, Partial<Observed>, string, string]>([
    [
      'because its spec is wrong in two places',
      { source: { type: 'kafka', kafka: {} }, sink: { type: 'kafka', config: { brokers: ['k'], topic: 't' } } },
      {},
      'InvalidSpec',
      '[spec.source.kafka.brokers: Invalid value: null: brokers or brokersSecretRef is required, spec.source.kafka.topic: Required value: topic or topicSecretRef is required]',
    ],
    [
      'because a Secret is not there',
      polledSpec(),
      { secrets: secretsOf() },
      'SecretResolutionFailed',
      'Failed to resolve secrets: spec.source.postgresql.connectionStringSecretRef: failed to get secret shop/database (for its key url): not found',
    ],
  ])('%s, says so and changes nothing that runs', (_why, spec, more, reason, message) => {
    const seen = { ...observed({ children: { deployment } }), ...more };
    const { objects, steps, status, summary } = plan(aFlow(spec), seen);
    expect({ objects, steps }).toEqual({ objects: [], steps: [] });
    expect(status).toMatchObject({ phase: 'Error', message });
    expect(summary).toEqual({ is: 'stalled', reason, because: message });
  });

  test('because of what a Secret holds, does not show it', () => {
    const spec = polledSpec({
      sink: {
        type: 'trino',
        trino: { serverURLSecretRef: { name: 'database', key: 'url' }, catalog: 'c', schema: 's', table: 't' },
      },
    });
    const { status, summary } = plan(aFlow(spec), observed());
    expect(summary).toMatchObject({ is: 'stalled', reason: 'InvalidSpec' });
    expect(status.message).toContain('spec.sink.trino.serverURL');
    expect(status.message).not.toContain('hunter2');
  });

  test('because nobody knows its image, waits', () => {
    const because = 'PROCESSOR_IMAGE is not set';
    expect(told(flow, observed({ image: { known: false, because } }))).toMatchObject({
      phase: 'Pending',
      message: `Processor has no image: ${because}`,
      summary: { is: 'stalled', reason: 'ImageUnknown' },
    });
  });

  test('because its name is too long for a label, says how long it may be', () => {
    const name = 'n'.repeat(64);
    expect(told(aFlow(kafkaSpec(), { metadata: { name } }), observed())).toMatchObject({
      phase: 'Error',
      message: `metadata.name: Invalid value: "${name}": must have at most 63 characters`,
    });
  });

  test('can still be stopped', () => {
    const spec = polledSpec({ maintenance: { suspended: true } });
    const seen = observed({ children: { deployment }, secrets: secretsOf() });
    expect(plan(aFlow(spec), seen).steps).toEqual([
      { do: 'stop-processor', because: 'spec.maintenance.suspended is true', deployment },
    ]);
  });
});

describe('a flow stops', () => {
  const window = { startTime: '2026-03-01T11:00:00Z', duration: '2h' };

  test.each<[string, GivenSpec, string]>([
    ['if it is suspended', { maintenance: { suspended: true } }, 'Processor suspended manually'],
    ['while a window is open', { maintenance: window }, 'Processor paused for scheduled maintenance window'],
    ['if it is to have no replicas', { replicas: 0 }, 'Processor stopped: spec.replicas is 0'],
  ])('%s', (_when, more, message) => {
    const stopped = aFlow(kafkaSpec(more));
    const { objects, status, summary } = plan(stopped, seen(live));
    expect(objects.at(-1)).toMatchObject({ kind: 'Deployment', spec: { replicas: 0 } });
    expect(status).toMatchObject({ phase: 'Stopped', message });
    expect(summary).toEqual({ is: 'ready' });
  });

  test('and is not done with it before the last pod is gone', () => {
    const suspended = aFlow(kafkaSpec({ maintenance: { suspended: true } }));
    expect(told(suspended, seen(live, [aPod(live)]))).toMatchObject({
      phase: 'Stopped',
      summary: { is: 'reconciling', because: 'a processor pod has not ended yet' },
    });
  });

  test('for as long as the window is open, which its status tells', () => {
    const { status, lookAgain } = plan(aFlow(kafkaSpec({ maintenance: { ...window, repeat: 'daily' } })), seen(live));
    expect(lookAgain).toEqual({ afterMs: 3_600_000, because: 'a maintenance window changes' });
    expect(status.maintenanceStatus).toEqual({
      inMaintenance: true,
      suspended: false,
      lastMaintenanceTime: '2026-03-01T11:00:00Z',
      nextMaintenanceTime: '2026-03-02T11:00:00Z',
    });
  });
});

describe('the counts of a flow', () => {
  const pod = aPod(live);
  const read = (processed: number) =>
    observed({ children: { deployment: live }, pods: [pod], readings: [aReading({ uid: 'uid', processed })] });
  const first = plan(aFlow(kafkaSpec()), read(10)).status;
  const counted = (more: object) => aFlow(kafkaSpec(), { status: { ...first, observedGeneration: 1, ...more } });

  test('are not written alone before their time', () => {
    expect(plan(counted({}), read(11)).status.processedCount).toBe(10);
  });

  test('are brought up to date with other news', () => {
    expect(plan(counted({ phase: 'Pending' }), read(11)).status.processedCount).toBe(11);
  });

  test('are asked for again while there are pods', () => {
    expect(plan(flow, read(11)).lookAgain).toEqual({ afterMs: 15_000, because: 'its processors count' });
    expect(plan(flow, seen(live)).lookAgain).toBeUndefined();
  });

  test('are asked for less often while they stand still', () => {
    const counting = (...movedAgo: number[]) => {
      const readings = movedAgo.map((ms, n) => aReading({ uid: `uid-${n}`, movedAt: NOW.getTime() - ms }));
      const pods = readings.map(({ uid }) => ({ ...pod, metadata: { ...pod.metadata, uid } }));
      return observed({ children: { deployment: live }, pods, readings });
    };
    expect(plan(flow, counting(60_000, 90_000)).lookAgain?.afterMs).toBe(60_000);
    expect(plan(flow, counting(60_000, 59_999)).lookAgain?.afterMs).toBe(15_000);
    const unread = { ...counting(60_000, 60_000), readings: [] };
    expect(plan(flow, unread).lookAgain?.afterMs).toBe(15_000);
    const { pods, readings } = counting(60_000);
    const restarted = { ...counting(60_000), pods, readings: readings.map((one) => ({ ...one, isOver: true })) };
    expect(plan(flow, restarted).lookAgain?.afterMs).toBe(15_000);
  });
});
