import { type Pod, type PodSpec, type PodStatus, unknown } from '@polder/kube';
import { describe, expect, test } from 'vitest';
import {
  backoffOf,
  starting as begin,
  type ContainerRun,
  ended,
  lastEnd,
  NEW_RUN,
  started,
  startFailed,
} from './container-run.ts';
import type { Observed } from './observe.ts';
import { planPod } from './plan.ts';
import { holding } from './references/testdata.ts';
import { StartFailure } from './runner.ts';
import { deleted, exited, NOW, now, placed, running, seconds, seen, starting } from './testdata.ts';

type Runs = Readonly<Record<string, ContainerRun>>;

/** `start main`, `stop side`, … */
function steps(pod: Pod, runs: Runs, more: Partial<Observed> = {}, at = NOW): readonly string[] {
  return planPod(pod, seen(runs, more), new Date(at)).steps.map((step) =>
    'container' in step ? `${step.do.replace('-container', '')} ${step.container.name}` : step.do,
  );
}

const lookAgain = (pod: Pod, runs: Runs, more: Partial<Observed> = {}) =>
  planPod(pod, seen(runs, more), now).lookAgain?.afterMs;

const ORDERED: Partial<PodSpec> = {
  initContainers: [
    { name: 'first' },
    { name: 'side', restartPolicy: 'Always' },
    { name: 'second' },
    { name: 'late', restartPolicy: 'Always' },
  ],
  containers: [{ name: 'main' }, { name: 'other' }],
};

describe('containers start in their order', () => {
  const [done, notUp] = [exited(0), running({ isStarted: false })];
  test.each<[because: string, runs: Runs, steps: readonly string[]]>([
    ['the first one comes first', {}, ['start first']],
    ['nothing is started twice', { first: starting }, []],
    ['the next waits while it runs', { first: running() }, []],
    ['a sidecar comes after what is before it', { first: done }, ['start side']],
    ['the next waits for the sidecar to be up', { first: done, side: notUp }, []],
    ['a sidecar that is up lets the next begin', { first: done, side: running() }, ['start second']],
    ['the last one is a sidecar', { first: done, side: running(), second: done }, ['start late']],
    [
      'then all others at once',
      { first: done, side: running(), second: done, late: running() },
      ['start main', 'start other'],
    ],
    [
      'a sidecar that ended is started again beside them',
      { first: done, side: exited(1), second: done, late: running(), main: running(), other: running() },
      ['start side'],
    ],
    [
      'a sidecar that restarts does not hold up a container',
      { first: done, side: notUp, second: done, late: running(), main: running(), other: exited(1) },
      ['start other'],
    ],
  ])('%s', (_, runs, expected) => {
    expect(steps(placed(ORDERED), runs)).toEqual(expected);
  });

  test('an init container that failed is started again, but not in a pod that runs once', () => {
    expect(steps(placed(ORDERED), { first: exited(1) })).toEqual(['start first']);
    expect(steps(placed({ ...ORDERED, restartPolicy: 'Never' }), { first: exited(1) })).toEqual([]);
  });
});

describe('a container that ended', () => {
  test.each<[NonNullable<PodSpec['restartPolicy']>, number, readonly string[]]>([
    ['Always', 0, ['start main']],
    ['Always', 1, ['start main']],
    ['OnFailure', 0, []],
    ['OnFailure', 1, ['start main']],
    ['Never', 0, []],
    ['Never', 1, []],
  ])('is restarted by the policy %s after exit code %d: %j', (restartPolicy, exitCode, expected) => {
    expect(steps(placed({ restartPolicy }), { main: exited(exitCode) })).toEqual(expected);
  });

  test('waits for its backoff to pass', () => {
    const run = { main: exited(1, { backoffMs: seconds(40) }) };
    expect(steps(placed({}), run)).toEqual([]);
    expect(lookAgain(placed({}), run)).toBe(seconds(40));
    expect(steps(placed({}), run, {}, NOW + seconds(40))).toEqual(['start main']);
  });

  test('is restarted at once, then after 10 s, 20 s, … 5 min, and from anew after a run of ten minutes', () => {
    const container = { startedAt: NOW, ended: new Promise<never>(() => {}), terminate() {}, kill() {} };
    const program = {
      ...container,
      probe: async () => ({ is: 'healthy' as const }),
      exec: async () => ({ exitCode: 0, output: '' }),
    };
    const health = { isStarted: true, isReady: true };
    let run: ContainerRun = NEW_RUN;
    const delayAfter = (ranMs: number) => {
      run = started(begin(run), program, health);
      run = ended(run, NOW, { exitCode: 1, at: NOW + ranMs });
      const end = lastEnd(run);
      return end && backoffOf(run, end) / 1000;
    };
    const crashes = Array.from({ length: 8 }, () => delayAfter(seconds(1)));
    expect(crashes).toEqual([0, 10, 20, 40, 80, 160, 300, 300]);
    expect(run.restartCount).toBe(7);
    expect([delayAfter(seconds(600)), delayAfter(seconds(1)), delayAfter(seconds(1))]).toEqual([0, 10, 20]);
  });

  test('keeps its count and its last words when its restart can not be done', () => {
    const failed = startFailed(
      begin(exited(3)),
      new StartFailure('CreateContainerConfigError', 'no'),
      holding({}),
      NOW,
    );
    const status = planPod(placed({}), seen({ main: failed }), now).status.containerStatuses?.[0];
    expect(status).toMatchObject({
      restartCount: 0,
      state: { waiting: { reason: 'CreateContainerConfigError' } },
      lastState: { terminated: { exitCode: 3 } },
    });
    expect(planPod(placed({}), seen({ main: failed }), now).status.phase).toBe('Running');
  });
});

describe('a container that could not be started', () => {
  const missing = holding({});
  const failed = (reason: StartFailure['reason'], times = 1) => {
    let run: ContainerRun = NEW_RUN;
    for (let time = 0; time < times; time++)
      run = startFailed(begin(run), new StartFailure(reason, 'no'), missing, NOW);
    return { main: run };
  };
  const pod = placed({});

  test('is tried again later and later', () => {
    const laterBy = (times: number) =>
      steps(pod, failed('CreateContainerError', times), {}, NOW + seconds(10 * 2 ** (times - 1)) - 1);
    const dueBy = (times: number) =>
      steps(pod, failed('CreateContainerError', times), {}, NOW + seconds(10 * 2 ** (times - 1)));
    expect([1, 2, 3].map(laterBy)).toEqual([[], [], []]);
    expect([1, 2, 3].map(dueBy)).toEqual([['start main'], ['start main'], ['start main']]);
  });

  test('is tried again at once when what it refers to appears', () => {
    const references = holding({ secrets: { key: { a: 'b' } } });
    expect(steps(pod, failed('CreateContainerConfigError'), { references: missing })).toEqual([]);
    expect(steps(pod, failed('CreateContainerConfigError'), { references })).toEqual(['start main']);
    expect(steps(pod, failed('ErrImagePull'), { references })).toEqual([]);
  });
});

describe('a container whose probe failed for good', () => {
  const spec = {
    containers: [{ name: 'main', startupProbe: {}, livenessProbe: { terminationGracePeriodSeconds: 3 } }],
    terminationGracePeriodSeconds: 20,
  };
  const stopping = (restartPolicy: 'Always' | 'Never', unhealthy: 'startup' | 'liveness') =>
    planPod(placed({ ...spec, restartPolicy }), seen({ main: running({ unhealthy }) }), now).steps;

  test('is stopped with the grace of that probe, and the event says what comes then', () => {
    expect(stopping('Always', 'liveness')).toMatchObject([
      { do: 'stop-container', graceMs: 3_000, note: 'Container main failed liveness probe, will be restarted' },
    ]);
    expect(stopping('Never', 'startup')).toMatchObject([
      { do: 'stop-container', graceMs: 20_000, note: 'Container main failed startup probe' },
    ]);
  });

  test('is not stopped twice', () => {
    const stopped = running({ unhealthy: 'liveness' }, { stopBy: NOW + 1 });
    expect(steps(placed(spec), { main: stopped })).toEqual([]);
  });
});

describe('volumes', () => {
  const mountless = { volumes: unknown('configmap "app" not found'), isPrepared: false };

  test('that miss something keep a pod from starting, and its deadline counts all the same', () => {
    const pod = placed({ activeDeadlineSeconds: 60 }, { status: { startTime: now.toISOString() } });
    expect(steps(pod, {}, { ...mountless, hasVolumes: false })).toEqual([]);
    expect(lookAgain(pod, {}, { ...mountless, hasVolumes: false })).toBe(seconds(60));
    expect(planPod(pod, seen({}, { ...mountless, hasVolumes: false }), now).events).toMatchObject([
      { reason: 'FailedMount', note: 'configmap "app" not found' },
    ]);
  });

  test('that lose something do not stop a pod that runs, nor its restarts', () => {
    expect(steps(placed({}), { main: exited(1) }, mountless)).toEqual(['start main']);
  });

  test('are put in place before the first container starts, and again when they changed', () => {
    expect(steps(placed({}), {}, { isPrepared: false, hasVolumes: false })).toEqual(['prepare-pod', 'start main']);
    expect(steps(placed({}), { main: running() }, { isPrepared: false })).toEqual(['prepare-pod']);
  });
});

describe('a pod that is deleted', () => {
  const all = { side: running(), late: running(), main: running(), other: running() };
  const pod = deleted(placed(ORDERED));
  const stopping = { stopBy: NOW + seconds(30) };

  test.each<[because: string, runs: Runs, steps: readonly string[]]>([
    ['containers end first', all, ['stop main', 'stop other']],
    ['nobody is asked twice', { ...all, main: running({}, stopping), other: running({}, stopping) }, []],
    ['sidecars wait for all of them', { ...all, main: exited(0), other: running({}, stopping) }, []],
    ['a container that is just starting is waited for', { ...all, main: exited(0), other: starting }, []],
    ['then sidecars, the last one first', { ...all, main: exited(0), other: exited(0) }, ['stop late']],
    ['one by one', { ...all, main: exited(0), other: exited(0), late: exited(0) }, ['stop side']],
  ])('%s', (_, runs, expected) => {
    expect(steps(pod, runs)).toEqual(expected);
  });

  test('gets less time when it is deleted again with a shorter grace', () => {
    const runs = { main: running({}, stopping) };
    expect(planPod(deleted(placed({}), 5), seen(runs), now).steps).toMatchObject([
      { do: 'stop-container', graceMs: 5_000 },
    ]);
    expect(steps(deleted(placed({}), 60), runs)).toEqual([]);
  });

  test('leaves its sidecars what is left of the grace, and two seconds at least', () => {
    const runs = { late: running() };
    const graceAt = (at: number) =>
      planPod(pod, seen(runs), new Date(at)).steps.map((step) => 'graceMs' in step && step.graceMs);
    expect(graceAt(NOW + seconds(20))).toEqual([10_000]);
    expect(graceAt(NOW + seconds(40))).toEqual([2_000]);
  });

  test('goes once its status has told how it ended', () => {
    const runs = { main: exited(0) };
    const ending = planPod(deleted(placed({})), seen(runs), now);
    expect(ending.steps).toEqual([]);
    expect(ending.status.phase).toBe('Succeeded');
    expect(steps(deleted(placed({}, { status: ending.status })), runs)).toEqual(['remove-pod']);
  });

  test('is not started any more', () => {
    expect(steps(deleted(placed({}, {})), { main: exited(1) })).toEqual([]);
  });
});

describe('a pod whose work is done', () => {
  const spec: Partial<PodSpec> = { ...ORDERED, restartPolicy: 'OnFailure' };
  const up = { first: exited(0), side: running(), second: exited(0), late: running() };

  test('ends its sidecars, and starts none of them again', () => {
    expect(steps(placed(spec), { ...up, main: exited(0), other: exited(0) })).toEqual(['stop late']);
    expect(steps(placed(spec), { ...up, side: exited(1), late: exited(0), main: exited(0), other: exited(0) })).toEqual(
      [],
    );
  });

  test('is one whose work can still be tried again not', () => {
    expect(steps(placed(spec), { ...up, main: exited(0), other: exited(1) })).toEqual(['start other']);
  });

  test('is one whose initialization failed for good', () => {
    const failed = { first: exited(0), side: running(), second: exited(1) };
    expect(steps(placed({ ...spec, restartPolicy: 'Never' }), failed)).toEqual(['stop side']);
  });

  test('is one whose deadline has passed', () => {
    const pod = placed({ activeDeadlineSeconds: 1 }, { status: { startTime: '2025-12-31T23:00:00Z' } });
    expect(steps(pod, { main: running() })).toEqual(['stop main']);
    expect(steps(pod, { main: exited(1) })).toEqual([]);
  });
});

describe('after a start of the program', () => {
  test('what ran before is looked for, and what was said of it holds until then', () => {
    const state = { running: { startedAt: '2025-12-31T23:00:00Z' } };
    const main = { name: 'main', image: 'nginx', imageID: '', ready: true, restartCount: 2, state };
    const pod = placed({}, { status: { phase: 'Running', containerStatuses: [main] } });
    const plan = planPod(pod, seen({}), now);
    expect(plan.steps).toMatchObject([{ do: 'resume-container', startedAt: Date.UTC(2025, 11, 31, 23) }]);
    expect(plan.status).toEqual(pod.status);
  });
});

test('a pod waits for an earlier one of its name to end, and hurries it', () => {
  expect(steps(placed({}), {}, { isPredecessorRunning: true })).toEqual(['end-predecessor']);
  expect(steps(deleted(placed({})), {}, { isPredecessorRunning: true })).toEqual([]);
});

test('the pods of other nodes are left alone', () => {
  const status: PodStatus = { phase: 'Running' };
  expect(planPod(placed({}, { status }), seen({}, { node: undefined }), now)).toEqual({
    objects: [],
    steps: [],
    held: [],
    status,
  });
});
