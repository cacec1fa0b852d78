import type { Pod, PodSpec } from '@polder/kube';
import { describe, expect, test } from 'vitest';
import type { ContainerRun, StartProblem } from './container-run.ts';
import { holding } from './references/testdata.ts';
import { statusOf } from './status.ts';
import { deleted, exited, NODE, NOW, now, placed, running, seconds, seen, starting } from './testdata.ts';

type Runs = Readonly<Record<string, ContainerRun>>;

const told = (pod: Pod, runs: Runs, at = now) => statusOf(pod, { ...seen(runs), node: NODE }, at);
const conditionOf = (pod: Pod, runs: Runs, type: string) =>
  told(pod, runs).conditions?.find((condition) => condition.type === type);

const ALONE: Partial<PodSpec> = {};
const ONCE: Partial<PodSpec> = { restartPolicy: 'Never' };
const UNTIL_DONE: Partial<PodSpec> = { restartPolicy: 'OnFailure' };
const TWO: Partial<PodSpec> = { containers: [{ name: 'main' }, { name: 'other' }] };
const INIT: Partial<PodSpec> = { initContainers: [{ name: 'init' }] };
const SIDECAR: Partial<PodSpec> = { initContainers: [{ name: 'side', restartPolicy: 'Always' }] };

describe('the phase of a pod', () => {
  test.each<[phase: string, because: string, spec: Partial<PodSpec>, runs: Runs]>([
    ['Pending', 'nothing has been started', ALONE, {}],
    ['Pending', 'its container is being started', ALONE, { main: starting }],
    ['Pending', 'one of its containers has not been started', TWO, { main: running() }],
    ['Running', 'its container runs', ALONE, { main: running() }],
    ['Running', 'its container is started again', ALONE, { main: exited(0) }],
    ['Running', 'one of two has ended', { ...TWO, ...ONCE }, { main: exited(1), other: running() }],
    ['Running', 'it failed and is tried again', UNTIL_DONE, { main: exited(1) }],
    ['Succeeded', 'all went well', UNTIL_DONE, { main: exited(0) }],
    ['Succeeded', 'it ran once, and well', ONCE, { main: exited(0) }],
    ['Failed', 'it ran once, and not well', ONCE, { main: exited(1) }],
    ['Failed', 'one of two failed', { ...TWO, ...ONCE }, { main: exited(1), other: exited(0) }],
    ['Pending', 'its init container runs', INIT, { init: running() }],
    ['Pending', 'its init container failed and is tried again', INIT, { init: exited(1) }],
    ['Pending', 'its init container is done, and no more', INIT, { init: exited(0) }],
    ['Failed', 'its init container failed, once and for all', { ...INIT, ...ONCE }, { init: exited(1) }],
    ['Pending', 'its sidecar is not up', SIDECAR, { side: running({ isStarted: false }) }],
    ['Running', 'its sidecar crashed while it runs', SIDECAR, { side: exited(1), main: running() }],
    ['Running', 'its sidecar is still to end', { ...SIDECAR, ...ONCE }, { side: running(), main: exited(0) }],
    [
      'Succeeded',
      'how its sidecar ended does not matter',
      { ...SIDECAR, ...ONCE },
      { side: exited(137), main: exited(0) },
    ],
    [
      'Running',
      'its container has a policy of its own',
      { ...ONCE, containers: [{ name: 'main', restartPolicy: 'OnFailure' }] },
      { main: exited(1) },
    ],
    [
      'Running',
      'its container has a rule for this code',
      {
        ...ONCE,
        containers: [
          {
            name: 'main',
            restartPolicy: 'Never',
            restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [42] } }],
          },
        ],
      },
      { main: exited(42) },
    ],
  ])('is %s when %s', (phase, _, spec, runs) => {
    expect(told(placed(spec), runs).phase).toBe(phase);
  });

  test('of a pod that was deleted tells how it ended, although its policy would restart it', () => {
    expect(told(deleted(placed({})), { main: exited(0) }).phase).toBe('Succeeded');
    expect(told(deleted(placed({})), { main: exited(143) }).phase).toBe('Failed');
    expect(told(deleted(placed({})), {}).phase).toBe('Failed');
  });

  test.each<'Succeeded' | 'Failed'>(['Succeeded', 'Failed'])('%s is for ever', (phase) => {
    const pod = placed({}, { status: { phase, reason: 'Evicted', message: 'too much' } });
    expect(told(pod, { main: running() })).toMatchObject({ phase, reason: 'Evicted', message: 'too much' });
  });

  test('is Failed once the deadline has passed and nothing runs any more, and not before', () => {
    const late = placed(
      { activeDeadlineSeconds: 60 },
      { status: { phase: 'Running', startTime: new Date(NOW - seconds(60)).toISOString() } },
    );
    const ending = told(late, { main: running() });
    expect(ending.phase).toBe('Running');
    expect(ending.reason).toBeUndefined();
    expect(ending.conditions).toContainEqual(
      expect.objectContaining({ type: 'Ready', status: 'False', reason: 'PodFailed' }),
    );
    expect(told(late, { main: exited(0) })).toMatchObject({ phase: 'Failed', reason: 'DeadlineExceeded' });
    expect(told(late, { main: running() }, new Date(NOW - 1)).conditions).toContainEqual(
      expect.objectContaining({ type: 'Ready', status: 'True' }),
    );
  });
});

describe('the conditions of a pod', () => {
  test.each<[type: string, condition: object, spec: Partial<PodSpec>, runs: Runs]>([
    ['Initialized', { status: 'True' }, ALONE, {}],
    [
      'Initialized',
      {
        status: 'False',
        reason: 'ContainersNotInitialized',
        message: 'containers with incomplete status: [init]',
      },
      INIT,
      { init: running() },
    ],
    ['Initialized', { status: 'True' }, INIT, { init: exited(0) }],
    ['Initialized', { status: 'True', reason: 'PodCompleted' }, ONCE, { main: exited(0) }],
    ['Initialized', { status: 'True' }, SIDECAR, { side: exited(1), main: running() }],
    [
      'Ready',
      { status: 'False', reason: 'ContainersNotReady', message: 'containers with unready status: [main other]' },
      TWO,
      { main: running({ isReady: false }) },
    ],
    [
      'ContainersReady',
      { status: 'False', reason: 'ContainersNotReady', message: 'containers with unready status: [side]' },
      SIDECAR,
      { side: running({ isReady: false }), main: running() },
    ],
    ['Ready', { status: 'False', reason: 'PodCompleted' }, ONCE, { main: exited(0) }],
    ['Ready', { status: 'False', reason: 'PodFailed' }, ONCE, { main: exited(1) }],
    ['Ready', { status: 'True' }, ALONE, { main: running() }],
    ['PodScheduled', { status: 'True' }, ALONE, {}],
    ['PodReadyToStartContainers', { status: 'False' }, ONCE, { main: exited(0) }],
  ])('%s is %o', (type, condition, spec, runs) => {
    const { lastTransitionTime: _, ...found } = conditionOf(placed(spec), runs, type) ?? { type };
    expect(found).toEqual({ type, ...condition });
  });

  test('wait for what others have to say: its readiness gates', () => {
    const gates = { readinessGates: [{ conditionType: 'example.com/in' }, { conditionType: 'example.com/warm' }] };
    const conditions = [{ type: 'example.com/warm', status: 'Unknown' }];
    const pod = placed(gates, { status: { conditions } });
    expect(conditionOf(pod, { main: running() }, 'Ready')).toMatchObject({
      status: 'False',
      reason: 'ReadinessGatesNotReady',
      message:
        'corresponding condition of pod readiness gate "example.com/in" does not exist., the status of pod readiness gate "example.com/warm" is not "True", but Unknown',
    });
    expect(conditionOf(pod, { main: running() }, 'ContainersReady')).toMatchObject({ status: 'True' });
    expect(conditionOf(pod, {}, 'example.com/warm')).toMatchObject({ status: 'Unknown' });
    const open = gates.readinessGates.map(({ conditionType }) => ({ type: conditionType, status: 'True' }));
    expect(conditionOf(placed(gates, { status: { conditions: open } }), { main: running() }, 'Ready')).toMatchObject({
      status: 'True',
    });
  });

  test('keep the time of their last change', () => {
    const old = { type: 'Ready', status: 'True', lastTransitionTime: '2025-01-01T00:00:00Z' };
    const pod = placed({}, { status: { conditions: [old] } });
    expect(conditionOf(pod, { main: running() }, 'Ready')).toMatchObject(old);
    expect(conditionOf(pod, {}, 'Ready')).toMatchObject({ lastTransitionTime: '2026-01-01T00:00:00Z' });
  });
});

describe('the status of a container', () => {
  const of = (pod: Pod, runs: Runs, at = now) => told(pod, runs, at).containerStatuses?.[0];
  const problem = (reason: StartProblem['reason']): ContainerRun => ({
    restartCount: 0,
    backoffMs: 0,
    state: {
      is: 'waiting',
      problem: { reason, message: 'not there', at: NOW, retryAt: NOW + seconds(10), references: holding({}) },
    },
  });

  test('that has not begun says what for it waits', () => {
    expect(of(placed({}), {})).toMatchObject({
      state: { waiting: { reason: 'ContainerCreating' } },
      ready: false,
      started: false,
      restartCount: 0,
    });
    expect(of(placed(INIT), {})).toMatchObject({ state: { waiting: { reason: 'PodInitializing' } } });
    expect(told(placed(INIT), {}).initContainerStatuses).toMatchObject([
      { state: { waiting: { reason: 'PodInitializing' } } },
    ]);
  });

  test('whose image can not be pulled says so, and then that it waits to try again', () => {
    const run = { main: problem('ErrImagePull') };
    expect(of(placed({}), run)?.state).toEqual({ waiting: { reason: 'ErrImagePull', message: 'not there' } });
    expect(of(placed({}), run, new Date(NOW + seconds(6)))?.state).toEqual({
      waiting: { reason: 'ImagePullBackOff', message: 'Back-off pulling image "nginx": ErrImagePull: not there' },
    });
  });

  test('that can not be configured says so until it can', () => {
    const state = of(placed({}), { main: problem('CreateContainerConfigError') }, new Date(NOW + seconds(9)))?.state;
    expect(state).toMatchObject({ waiting: { reason: 'CreateContainerConfigError' } });
  });

  test('that crashes again and again names the backoff, and how it ended', () => {
    const run = exited(3, { restartCount: 4, backoffMs: seconds(80) });
    expect(of(placed({}), { main: run })).toMatchObject({
      state: {
        waiting: {
          reason: 'CrashLoopBackOff',
          message: expect.stringMatching(/^back-off 1m20s restarting failed container=main pod=web_shop\(4bb0.*\)$/),
        },
      },
      lastState: { terminated: { exitCode: 3, reason: 'Error', finishedAt: '2026-01-01T00:00:00Z' } },
      restartCount: 4,
      ready: false,
      started: false,
    });
  });

  test('that ended for good says how', () => {
    expect(of(placed(ONCE), { main: exited(0) })).toMatchObject({
      state: { terminated: { exitCode: 0, reason: 'Completed' } },
      lastState: {},
      ready: false,
    });
  });

  test('that is an init container is ready once it is done, and not while it runs', () => {
    const ready = (run: ContainerRun) => told(placed(INIT), { init: run }).initContainerStatuses?.[0]?.ready;
    expect([running(), exited(1), exited(0)].map(ready)).toEqual([false, false, true]);
  });
});
