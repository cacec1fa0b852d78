import { job as anyJob, jobs, pod, pods } from '../contract/objects.ts';
import type { Body } from '../contract/wire.ts';
import { onDrivenNode, type Pod } from './pods.ts';
import { expect, topic } from './suite.ts';
import type { Workloads } from './workloads.ts';

type Fields = Readonly<Record<string, unknown>>;

const TRACKING = 'batch.kubernetes.io/job-tracking';
const INDEX = 'batch.kubernetes.io/job-completion-index';

const any = { time: expect.any(String) };

/** As a job's status has it. */
const condition = (type: string, reason: string, message: string, status = 'True') => ({
  type,
  status,
  reason,
  message,
  lastProbeTime: any.time,
  lastTransitionTime: any.time,
});
const COMPLETED = [
  condition('SuccessCriteriaMet', 'CompletionsReached', 'Reached expected number of succeeded pods'),
  condition('Complete', 'CompletionsReached', 'Reached expected number of succeeded pods'),
];
const failed = (reason: string, message: string) => [
  condition('FailureTarget', reason, message),
  condition('Failed', reason, message),
];
const saying = (type: string, reason: string) => ({
  status: { conditions: expect.arrayContaining([expect.objectContaining({ type, reason, status: 'True' })]) },
});

/** A job whose pods end when, and as, the case says. */
const job = (name: string, spec: Fields = {}, podSpec: Fields = {}) =>
  anyJob(name, {
    template: { spec: { ...pod('').spec, restartPolicy: 'Never', ...onDrivenNode, ...podSpec } },
    ...spec,
  });

/** One job in a namespace of its own, and its pods. */
class OneJob {
  readonly namespace: string;
  readonly path: string;
  readonly #world: Workloads;

  constructor(world: Workloads, namespace: string) {
    this.#world = world;
    this.namespace = namespace;
    this.path = `${jobs(namespace)}/a`;
  }

  static async of(world: Workloads, body: object): Promise<OneJob> {
    const namespace = await world.namespace();
    await world.wire.must(world.wire.create(jobs(namespace), body));
    return new OneJob(world, namespace);
  }

  becomes = (like: Fields): Promise<Body> => this.#world.becomes(this.path, like);

  change = (spec: Fields): Promise<Body> => this.#world.wire.must(this.#world.wire.patch('merge', this.path, { spec }));

  /** Waits until so many pods are at work: placed, not at their end and not on their way out. */
  working = (count: number): Promise<readonly Pod[]> =>
    this.#world.settles(async () => {
      const found = await this.#world.podsOf(this.namespace, 'job-name=a');
      const working = found.filter(
        ({ metadata, spec, status }) =>
          metadata.deletionTimestamp === undefined && spec.nodeName && !/Succeeded|Failed/.test(status.phase ?? ''),
      );
      expect(working.map(({ metadata }) => metadata.name)).toHaveLength(count);
      return working;
    });

  /** Waits until the pod of an index is at work. */
  index = (index: number): Promise<Pod> =>
    this.#world.settles(async () => {
      const found = await this.#world.podsOf(this.namespace, `job-name=a,${INDEX}=${index}`);
      const working = found.find(({ spec, status }) => spec.nodeName && !/Succeeded|Failed/.test(status.phase ?? ''));
      if (!working) throw new Error(`no pod of index ${index} is at work`);
      return working;
    });
}

const createdAt = ({ metadata }: Pod) => Date.parse(metadata.creationTimestamp);

export const jobsAndTheirPods = topic('jobs', (promise) => {
  promise('are complete once enough of their pods have succeeded, and tell of each', async (world) => {
    const one = await OneJob.of(world, anyJob('a', { completions: 3, parallelism: 2 }));
    const { status } = await one.becomes(saying('Complete', 'CompletionsReached'));
    expect(status).toEqual({
      conditions: COMPLETED,
      startTime: any.time,
      completionTime: any.time,
      succeeded: 3,
      ready: 0,
      terminating: 0,
      uncountedTerminatedPods: {},
    });
    const made = await world.podsOf(one.namespace, 'job-name=a');
    expect(made.map(({ metadata }) => metadata.finalizers)).toEqual([undefined, undefined, undefined]);
    const message = `Created pod: ${made[0]?.metadata.name}`;
    await world.recorded(one.namespace, 'a', { type: 'Normal', reason: 'SuccessfulCreate', message });
    await world.recorded(one.namespace, 'a', { type: 'Normal', reason: 'Completed', message: 'Job completed' });
  });

  promise('keep a pod from disappearing until its end is counted', async (world) => {
    const one = await OneJob.of(world, job('a'));
    const [first] = await one.working(1);
    if (!first) throw new Error('a pod is at work');
    expect(first.metadata.finalizers).toEqual([TRACKING]);
    await world.succeed(first);
    await one.becomes({ status: { succeeded: 1, conditions: COMPLETED } });
    expect((await world.pod(one.namespace, first.metadata.name)).metadata.finalizers).toBeUndefined();
  });

  promise('run as many pods at once as they are told, also when told otherwise later', async (world) => {
    const one = await OneJob.of(world, job('a', { completions: 5, parallelism: 2 }));
    await one.working(2);
    await one.change({ parallelism: 3 });
    await one.working(3);
    await one.becomes({ status: { active: 3, ready: 0 } });
    await one.change({ parallelism: 1 });
    await one.working(1);
    await one.becomes({ status: { active: 1, terminating: 2 } });
    for (const going of await world.podsOf(one.namespace, 'job-name=a')) {
      if (going.metadata.deletionTimestamp) await world.finishDeletion(going);
    }
    const { status } = await one.becomes({ status: { active: 1, terminating: 0 } });
    expect(status, 'pods that were too many did not fail').not.toHaveProperty('failed');
  });

  promise('never run more pods than are still to succeed', async (world) => {
    const one = await OneJob.of(world, job('a', { completions: 3, parallelism: 2 }));
    const [first, second] = await one.working(2);
    if (!first || !second) throw new Error('two pods are at work');
    await world.succeed(first);
    await world.succeed(second);
    await one.working(1);
    await one.becomes({ status: { active: 1, succeeded: 2 } });
  });

  promise('without a number of completions end with their last pod, once one has succeeded', async (world) => {
    const one = await OneJob.of(world, job('a', { parallelism: 2 }));
    const [first, second] = await one.working(2);
    if (!first || !second) throw new Error('two pods are at work');
    await world.succeed(first);
    await one.becomes({ status: { active: 1, succeeded: 1 } });
    await world.succeed(second);
    await one.becomes({ status: { succeeded: 2, conditions: COMPLETED } });
    expect(await world.podsOf(one.namespace, 'job-name=a')).toHaveLength(2);
  });

  promise('replace a failed pod, but not before ten seconds have passed', async (world) => {
    const one = await OneJob.of(world, job('a'));
    const [first] = await one.working(1);
    if (!first) throw new Error('a pod is at work');
    const failedAt = Date.now();
    await world.fail(first);
    const { status } = await one.becomes({ status: { failed: 1 } });
    expect(status).not.toHaveProperty('active');
    const [second] = await one.working(1);
    if (!second) throw new Error('a pod is at work');
    expect(createdAt(second) - failedAt).toBeGreaterThan(8_000);
    await one.becomes({ status: { active: 1, failed: 1 } });
  });

  promise('fail when more pods failed than the limit, and take the others with them', async (world) => {
    const one = await OneJob.of(world, job('a', { completions: 2, parallelism: 2, backoffLimit: 0 }));
    const [first, second] = await one.working(2);
    if (!first || !second) throw new Error('two pods are at work');
    await world.fail(first);
    const message = 'Job has reached the specified backoff limit';
    const { status } = await one.becomes({ status: { failed: 2, terminating: 1 } });
    expect(status).toMatchObject({ conditions: [condition('FailureTarget', 'BackoffLimitExceeded', message)] });
    await world.finishDeletion(second);
    const ended = await one.becomes(saying('Failed', 'BackoffLimitExceeded'));
    expect(ended.status).toEqual({
      conditions: failed('BackoffLimitExceeded', message),
      startTime: any.time,
      failed: 2,
      ready: 0,
      terminating: 0,
      uncountedTerminatedPods: {},
    });
    await world.recorded(one.namespace, 'a', { type: 'Warning', reason: 'BackoffLimitExceeded', message });
  });

  promise('count restarts in place as failures', async (world) => {
    const one = await OneJob.of(world, job('a', { backoffLimit: 2 }, { restartPolicy: 'OnFailure' }));
    const [first] = await one.working(1);
    if (!first) throw new Error('a pod is at work');
    const [container] = (await world.becomeReady(first)).status.containerStatuses ?? [];
    if (!container) throw new Error('a container runs');
    await world.report(first, { containerStatuses: [{ ...container, restartCount: 2 }] });
    await world.becomesGoing(first);
    await world.finishDeletion(first);
    await one.becomes(saying('Failed', 'BackoffLimitExceeded'));
  });

  promise('fail when they are active for longer than their deadline', async (world) => {
    const one = await OneJob.of(world, job('a', { activeDeadlineSeconds: 1 }));
    const message = 'Job was active longer than specified deadline';
    await one.becomes({ status: { conditions: [condition('FailureTarget', 'DeadlineExceeded', message)] } });
    for (const going of await world.podsOf(one.namespace, 'job-name=a')) await world.finishDeletion(going);
    await one.becomes({ status: { conditions: failed('DeadlineExceeded', message), failed: 1 } });
  });

  promise('are removed with their pods when their time to live after the end is over', async (world) => {
    const one = await OneJob.of(world, anyJob('a', { ttlSecondsAfterFinished: 1 }));
    await world.gone(one.path);
    await world.podsBecome(one.namespace, 'job-name=a', 0);
  });

  promise('have no pods while suspended, and start anew when resumed', async (world) => {
    const one = await OneJob.of(world, job('a', { completions: 2, parallelism: 2 }));
    const before = await one.working(2);
    await one.change({ suspend: true });
    for (const going of before) {
      await world.becomesGoing(going);
      await world.finishDeletion(going);
    }
    await world.podsBecome(one.namespace, 'job-name=a', 0);
    const suspended = await one.becomes({ status: { terminating: 0 } });
    expect(suspended.status).toEqual({
      conditions: [condition('Suspended', 'JobSuspended', 'Job suspended')],
      ready: 0,
      terminating: 0,
      uncountedTerminatedPods: {},
    });
    await one.change({ suspend: false });
    await one.working(2);
    const resumed = [condition('Suspended', 'JobResumed', 'Job resumed', 'False')];
    await one.becomes({ status: { active: 2, startTime: any.time, conditions: resumed } });
    await world.recorded(one.namespace, 'a', { type: 'Normal', reason: 'Suspended', message: 'Job suspended' });
    await world.recorded(one.namespace, 'a', { type: 'Normal', reason: 'Resumed', message: 'Job resumed' });
  });

  promise('give each pod an index of its own if asked, and list the completed ones', async (world) => {
    const one = await OneJob.of(world, job('a', { completionMode: 'Indexed', completions: 4, parallelism: 4 }));
    const first = await one.index(0);
    expect(first.metadata).toMatchObject({ labels: { [INDEX]: '0' }, annotations: { [INDEX]: '0' } });
    expect(first.metadata.name).toMatch(/^a-0-\w{5}$/);
    const variable = {
      name: 'JOB_COMPLETION_INDEX',
      valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: `metadata.labels['${INDEX}']` } },
    };
    expect(first.spec).toMatchObject({ hostname: 'a-0', containers: [{ env: [variable] }] });
    await world.succeed(await one.index(3));
    await world.succeed(first);
    await world.succeed(await one.index(1));
    await one.becomes({ status: { completedIndexes: '0,1,3', succeeded: 3, active: 1 } });
    await world.succeed(await one.index(2));
    await one.becomes({ status: { completedIndexes: '0-3', succeeded: 4, conditions: COMPLETED } });
  });

  promise('take more indexes, or fewer, while they run', async (world) => {
    const one = await OneJob.of(world, job('a', { completionMode: 'Indexed', completions: 1, parallelism: 1 }));
    await one.working(1);
    await one.change({ completions: 3, parallelism: 3 });
    const [, second] = await one.working(3);
    if (!second) throw new Error('three pods are at work');
    await world.succeed(second);
    await one.becomes({ status: { completedIndexes: '1', active: 2 } });
    await one.change({ completions: 1, parallelism: 1 });
    const [left] = await one.working(1);
    expect(left?.metadata.labels[INDEX]).toBe('0');
    const { status } = await one.becomes({ status: { active: 1, terminating: 1 } });
    expect(status, 'what is beyond the end is forgotten').not.toHaveProperty('completedIndexes');
  });

  promise('let an index fail alone, go on with the others, and fail in the end', async (world) => {
    const spec = { completionMode: 'Indexed', completions: 2, parallelism: 2, backoffLimitPerIndex: 0 };
    const one = await OneJob.of(world, job('a', spec));
    const first = await one.index(0);
    expect(first.metadata.annotations).toMatchObject({ 'batch.kubernetes.io/job-index-failure-count': '0' });
    await world.fail(first);
    await one.becomes({ status: { failedIndexes: '0', failed: 1, active: 1 } });
    await world.succeed(await one.index(1));
    const conditions = failed('FailedIndexes', 'Job has failed indexes');
    await one.becomes({ status: { failedIndexes: '0', completedIndexes: '1', failed: 1, succeeded: 1, conditions } });
  });

  promise('hand on the failures of an index to its next pod', async (world) => {
    const spec = { completionMode: 'Indexed', completions: 1, parallelism: 1, backoffLimitPerIndex: 3 };
    const one = await OneJob.of(world, job('a', spec));
    const first = await one.index(0);
    await world.fail(first);
    const next = await one.index(0);
    expect(next.metadata.annotations).toMatchObject({ 'batch.kubernetes.io/job-index-failure-count': '1' });
    await one.becomes({ status: { failed: 1, active: 1, failedIndexes: '' } });
    expect((await world.pod(one.namespace, first.metadata.name)).metadata.finalizers).toBeUndefined();
  });

  promise('fail when more indexes failed than they may', async (world) => {
    const limits = { backoffLimitPerIndex: 0, maxFailedIndexes: 0 };
    const one = await OneJob.of(
      world,
      job('a', { completionMode: 'Indexed', completions: 2, parallelism: 2, ...limits }),
    );
    const other = await one.index(1);
    await world.fail(await one.index(0));
    await world.becomesGoing(other);
    await world.finishDeletion(other);
    const message = 'Job has exceeded the specified maximal number of failed indexes';
    await one.becomes({ status: { conditions: failed('MaxFailedIndexesExceeded', message), failedIndexes: '0' } });
  });

  promise('can be complete by some of their indexes; the others do not count as failed', async (world) => {
    const successPolicy = { rules: [{ succeededIndexes: '0', succeededCount: 1 }] };
    const spec = { completionMode: 'Indexed', completions: 2, parallelism: 2, successPolicy };
    const one = await OneJob.of(world, job('a', spec));
    const other = await one.index(1);
    await world.succeed(await one.index(0));
    await world.becomesGoing(other);
    await world.finishDeletion(other);
    const { status } = await one.becomes(saying('Complete', 'SuccessPolicy'));
    expect(status).toMatchObject({
      completedIndexes: '0',
      succeeded: 1,
      conditions: [
        condition('SuccessCriteriaMet', 'SuccessPolicy', 'Matched rules at index 0'),
        condition('Complete', 'SuccessPolicy', 'Matched rules at index 0'),
      ],
    });
    expect(status).not.toHaveProperty('failed');
  });

  promise('fail at once over an exit code that their policy does not forgive', async (world) => {
    const rules = [
      { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget' }] },
      { action: 'FailJob', onExitCodes: { containerName: 'main', operator: 'In', values: [42] } },
    ];
    const one = await OneJob.of(world, job('a', { podFailurePolicy: { rules } }));
    const [first] = await one.working(1);
    if (!first) throw new Error('a pod is at work');
    await world.fail(first, () => 42);
    const { namespace, name } = first.metadata;
    const message = `Container main for pod ${namespace}/${name} failed with exit code 42 matching FailJob rule at index 1`;
    await one.becomes({ status: { failed: 1, conditions: failed('PodFailurePolicy', message) } });
  });

  promise('do not count a failure that their policy excuses', async (world) => {
    const rules = [{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] }];
    const one = await OneJob.of(world, job('a', { backoffLimit: 0, podFailurePolicy: { rules } }));
    const [first] = await one.working(1);
    if (!first) throw new Error('a pod is at work');
    const lastTransitionTime = new Date().toISOString();
    await world.report(first, { conditions: [{ type: 'DisruptionTarget', status: 'True', lastTransitionTime }] });
    await world.fail(first);
    await one.working(1);
    const { status } = await one.becomes({ status: { active: 1 } });
    expect(status).not.toHaveProperty('failed');
    expect((await world.pod(one.namespace, first.metadata.name)).metadata.finalizers).toBeUndefined();
  });

  promise('replace a pod that is deleted without waiting for its end', async (world) => {
    const one = await OneJob.of(world, job('a'));
    const [first] = await one.working(1);
    if (!first) throw new Error('a pod is at work');
    await world.wire.must(world.wire.delete(`${pods(one.namespace)}/${first.metadata.name}`));
    await one.becomes({ status: { failed: 1, terminating: 1 } });
    await one.working(1);
    await one.becomes({ status: { failed: 1, active: 1, terminating: 1 } });
  });

  promise('wait for the end of a deleted pod if asked to replace failed pods only', async (world) => {
    const one = await OneJob.of(world, job('a', { podReplacementPolicy: 'Failed' }));
    const [first] = await one.working(1);
    if (!first) throw new Error('a pod is at work');
    await world.wire.must(world.wire.delete(`${pods(one.namespace)}/${first.metadata.name}`));
    const { status } = await one.becomes({ status: { terminating: 1 } });
    expect(status).not.toHaveProperty('failed');
    expect(await world.podsOf(one.namespace, 'job-name=a')).toHaveLength(1);
    await world.fail(first);
    await one.working(1);
    await one.becomes({ status: { failed: 1, active: 1, terminating: 0 } });
  });

  promise('take in a pod that their own selector matches', async (world) => {
    const namespace = await world.namespace();
    const labels = { app: world.fresh('app') };
    await world.place(namespace, 'stray', { labels, spec: { restartPolicy: 'Never' } });
    const template = { metadata: { labels }, spec: { ...pod('').spec, restartPolicy: 'Never', ...onDrivenNode } };
    const spec = { manualSelector: true, selector: { matchLabels: labels }, template };
    await world.wire.must(world.wire.create(jobs(namespace), anyJob('a', spec)));
    const stray = await world.becomes(`${pods(namespace)}/stray`, {
      metadata: { finalizers: [TRACKING], ownerReferences: [{ kind: 'Job', name: 'a', controller: true }] },
    });
    expect(stray.metadata.labels).toEqual(expect.objectContaining(labels));
    await world.becomes(`${jobs(namespace)}/a`, { status: { active: 1 } });
    await world.succeed(await world.pod(namespace, 'stray'));
    await world.becomes(`${jobs(namespace)}/a`, { status: { succeeded: 1, conditions: COMPLETED } });
  });

  promise('leave no finalizer on the pods that they leave behind', async (world) => {
    const one = await OneJob.of(world, job('a'));
    const [first] = await one.working(1);
    if (!first) throw new Error('a pod is at work');
    await world.wire.must(world.wire.delete(one.path, { propagationPolicy: 'Orphan' }));
    await world.gone(one.path);
    await world.settles(async () => {
      const { metadata } = await world.pod(one.namespace, first.metadata.name);
      expect(metadata).not.toHaveProperty('finalizers');
      expect(metadata).not.toHaveProperty('deletionTimestamp');
    });
  });

  promise('are left alone if another controller manages them', async (world) => {
    const one = await OneJob.of(world, job('a', { managedBy: 'example.com/other' }));
    // A job made later has its pod, so this one has been seen.
    await world.wire.must(world.wire.create(jobs(one.namespace), job('b')));
    await world.podsBecome(one.namespace, 'job-name=b', 1);
    const { status } = await one.becomes({});
    expect(status).toEqual({});
    expect(await world.podsOf(one.namespace, 'job-name=a')).toEqual([]);
  });
});
