import { EventsV1Event, Job, type JobSpec, Pod, register } from '@polder/kube';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { TestWorld } from '../test-world.ts';
import { jobs, orphanedJobPods } from './index.ts';

let world: TestWorld;
beforeEach(() => {
  world = new TestWorld().run(register(jobs), register(orphanedJobPods));
});
afterEach(() => world.stop());

const ref = { namespace: 'default', name: 'work' };
const template: JobSpec['template'] = {
  spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'busybox' }] },
};
/** Deleted, its pods stay until they are told that they ended. */
const placed = { spec: { ...template.spec, containers: [{ name: 'c', image: 'busybox' }], nodeName: 'node' } };
const create = (spec: Partial<JobSpec> = {}) =>
  world.client.create(Job, { metadata: ref, spec: { template, ...spec } });
const statusOfJob = async () => (await world.client.get(Job, ref)).status ?? {};
const change = (spec: object) => world.client.patch(Job, ref, { type: 'merge', body: { spec } });

const byName = (a: Pod, b: Pod) => (a.metadata.name < b.metadata.name ? -1 : 1);
/** Pods that are neither at their end nor on their way out. */
const running = async () =>
  (await world.pods())
    .filter(({ status, metadata }) => !metadata.deletionTimestamp && !/Succeeded|Failed/.test(status?.phase ?? ''))
    .toSorted(byName);
const podOf = async (index: number) => {
  const pod = (await running()).find((one) => one.metadata.name.startsWith(`work-${index}-`));
  if (!pod) throw new Error(`no pod of index ${index} runs`);
  return pod;
};
const end = async (phase: 'Succeeded' | 'Failed', ...pods: readonly Pod[]) => {
  for (const pod of pods) await world.report(pod, { phase, ready: false });
  await world.settle(500);
};
const conditions = async () => (await statusOfJob()).conditions?.map(({ type, reason }) => `${type} ${reason}`);
const events = async () => {
  await world.settle();
  const { items } = await world.client.list(EventsV1Event, { namespace: 'default' });
  return items.filter(({ regarding }) => regarding?.kind === 'Job').map(({ reason }) => reason);
};

test('a job is complete once its pods have succeeded, and every one of them is counted', async () => {
  await create({ completions: 3, parallelism: 2 });
  await world.settle();
  expect(await running()).toHaveLength(2);
  expect(await statusOfJob()).toMatchObject({ active: 2, ready: 0, terminating: 0, uncountedTerminatedPods: {} });
  await end('Succeeded', ...(await running()));
  expect(await running()).toHaveLength(1);
  await end('Succeeded', ...(await running()));
  const { startTime, completionTime, conditions: _, ...counts } = await statusOfJob();
  expect(counts).toEqual({ succeeded: 3, ready: 0, terminating: 0, uncountedTerminatedPods: {} });
  expect([startTime, completionTime]).toEqual([expect.any(String), expect.any(String)]);
  expect(await conditions()).toEqual(['SuccessCriteriaMet CompletionsReached', 'Complete CompletionsReached']);
  expect((await world.pods()).flatMap(({ metadata }) => metadata.finalizers ?? [])).toEqual([]);
  expect(await events()).toEqual(['SuccessfulCreate', 'SuccessfulCreate', 'SuccessfulCreate', 'Completed']);
});

test('once a job is over, nothing is written', async () => {
  await create();
  await world.settle();
  await end('Succeeded', ...(await running()));
  await world.settle();
  world.writes.length = 0;
  await world.settle(24 * 3600_000);
  expect(world.writes).toEqual([]);
});

test('parallelism can be changed while the job runs; pods that are then too many do not count as failed', async () => {
  await create({ completions: 10, parallelism: 1 });
  await world.settle();
  await change({ parallelism: 4 });
  await world.settle();
  expect(await running()).toHaveLength(4);
  await change({ parallelism: 1 });
  await world.until('one is left', async () => (await world.pods()).length === 1);
  expect((await statusOfJob()).failed).toBeUndefined();
});

test('a failed pod is replaced after 10 s, the next one after 20 s, the one after that after 40 s', async () => {
  await create();
  for (const seconds of [10, 20, 40]) {
    await world.settle();
    await end('Failed', ...(await running()));
    await world.settle((seconds - 2) * 1000);
    expect(await running()).toHaveLength(0);
    await world.settle(2000);
    expect(await running()).toHaveLength(1);
  }
  expect(await statusOfJob()).toMatchObject({ active: 1, failed: 3 });
});

test('more failures than the limit end the job; what still ran counts as failed, too', async () => {
  await create({ backoffLimit: 0, parallelism: 2, completions: 2 });
  await world.settle();
  const [first] = await running();
  if (first) await end('Failed', first);
  expect(await conditions()).toEqual(['FailureTarget BackoffLimitExceeded', 'Failed BackoffLimitExceeded']);
  expect(await statusOfJob()).toMatchObject({ failed: 2, ready: 0, terminating: 0 });
  expect(await events()).toContain('BackoffLimitExceeded');
});

test('a container that is restarted too often in place ends the job', async () => {
  const spec = { ...template.spec, restartPolicy: 'OnFailure' as const, containers: [{ name: 'c', image: 'busybox' }] };
  await create({ backoffLimit: 2, template: { spec } });
  await world.settle();
  const [pod] = await running();
  const restarted = { name: 'c', image: 'busybox', imageID: '', ready: false, restartCount: 2 };
  const body = { status: { phase: 'Running', containerStatuses: [restarted] } };
  if (pod) await world.client.patch(Pod, pod.metadata, { type: 'strategic', body }, { subresource: 'status' });
  await world.settle();
  expect(await conditions()).toEqual(['FailureTarget BackoffLimitExceeded', 'Failed BackoffLimitExceeded']);
});

test('a job that is active for longer than its deadline fails', async () => {
  await create({ activeDeadlineSeconds: 60 });
  await world.settle(59_000);
  expect(await conditions()).toBeUndefined();
  await world.settle(1500);
  expect(await conditions()).toEqual(['FailureTarget DeadlineExceeded', 'Failed DeadlineExceeded']);
});

test('a finished job is removed when its time to live is over', async () => {
  await create({ ttlSecondsAfterFinished: 30 });
  await world.settle();
  await end('Succeeded', ...(await running()));
  await world.settle(28_000);
  expect((await world.client.get(Job, ref)).metadata.deletionTimestamp).toBeUndefined();
  await world.settle(2_000);
  expect((await world.client.get(Job, ref)).metadata.deletionTimestamp).toBeDefined();
});

test('a suspended job has no pods and no start; resumed, it starts anew and nothing counts as failed', async () => {
  await create({ completions: 2, parallelism: 2, activeDeadlineSeconds: 60 });
  await world.settle(50_000);
  await change({ suspend: true });
  await world.until('no pod is left', async () => (await world.pods()).length === 0);
  expect(await conditions()).toEqual(['Suspended JobSuspended']);
  expect((await statusOfJob()).startTime).toBeUndefined();
  await world.settle(50_000);
  await change({ suspend: false });
  await world.settle();
  expect(await running()).toHaveLength(2);
  expect((await statusOfJob()).conditions).toMatchObject([
    { type: 'Suspended', status: 'False', reason: 'JobResumed' },
  ]);
  expect(await statusOfJob()).toMatchObject({ active: 2, startTime: expect.any(String) });
  expect((await statusOfJob()).failed).toBeUndefined();
  expect(await events()).toEqual(expect.arrayContaining(['Suspended', 'Resumed']));
});

test('each pod of an indexed job knows its index, and completed indexes are listed in short', async () => {
  await create({ completionMode: 'Indexed', completions: 5, parallelism: 5 });
  await world.settle();
  const pods = await running();
  const indexes = pods.map(({ metadata }) => metadata.labels?.['batch.kubernetes.io/job-completion-index']);
  expect(indexes).toEqual(['0', '1', '2', '3', '4']);
  expect(pods.map(({ spec }) => spec?.hostname)).toEqual([0, 1, 2, 3, 4].map((index) => `work-${index}`));
  expect(pods[0]?.spec?.containers[0]?.env?.[0]?.name).toBe('JOB_COMPLETION_INDEX');
  await end('Succeeded', await podOf(4), await podOf(0), await podOf(1));
  expect(await statusOfJob()).toMatchObject({ completedIndexes: '0,1,4', succeeded: 3, active: 2 });
  await end('Succeeded', await podOf(2));
  expect((await statusOfJob()).completedIndexes).toBe('0-2,4');
  await end('Succeeded', await podOf(3));
  expect(await statusOfJob()).toMatchObject({ completedIndexes: '0-4', succeeded: 5 });
  expect(await conditions()).toContain('Complete CompletionsReached');
});

test('an indexed job that shrinks to what is done is complete, and the pods beyond its end did not fail', async () => {
  await create({ completionMode: 'Indexed', completions: 3, parallelism: 3, template: placed });
  await world.settle();
  await end('Succeeded', await podOf(0));
  await change({ completions: 1, parallelism: 1 });
  await world.settle();
  expect((await statusOfJob()).terminating).toBe(2);
  await world.until('it is complete', async () => (await conditions())?.length === 2);
  expect(await conditions()).toEqual(['SuccessCriteriaMet CompletionsReached', 'Complete CompletionsReached']);
  expect(await statusOfJob()).toMatchObject({ completedIndexes: '0', succeeded: 1, terminating: 0 });
  expect((await statusOfJob()).failed).toBeUndefined();
});

test('an index fails alone: its pods hand on their count, the others go on, and the job fails in the end', async () => {
  await create({
    completionMode: 'Indexed',
    completions: 2,
    parallelism: 2,
    backoffLimitPerIndex: 1,
    backoffLimit: 100,
  });
  await world.settle();
  await end('Failed', await podOf(0));
  await world.settle(12_000);
  const again = await podOf(0);
  expect(again.metadata.annotations?.['batch.kubernetes.io/job-index-failure-count']).toBe('1');
  await end('Failed', again);
  expect(await statusOfJob()).toMatchObject({ failedIndexes: '0', active: 1 });
  await end('Succeeded', await podOf(1));
  expect(await conditions()).toEqual(['FailureTarget FailedIndexes', 'Failed FailedIndexes']);
  expect(await statusOfJob()).toMatchObject({ failed: 2, succeeded: 1, completedIndexes: '1', failedIndexes: '0' });
});

test('more failed indexes than allowed end the job', async () => {
  const limits = { backoffLimitPerIndex: 0, maxFailedIndexes: 0, backoffLimit: 100 };
  await create({ completionMode: 'Indexed', completions: 3, parallelism: 3, ...limits });
  await world.settle();
  await end('Failed', await podOf(1));
  await world.until('it has failed', async () => (await conditions())?.length === 2);
  expect(await conditions()).toContain('Failed MaxFailedIndexesExceeded');
});

test('a success policy ends the job early, and what still ran does not count as failed', async () => {
  const successPolicy = { rules: [{ succeededIndexes: '0' }] };
  await create({ completionMode: 'Indexed', completions: 3, parallelism: 3, successPolicy });
  await world.settle();
  await end('Succeeded', await podOf(0));
  await world.until('it is complete', async () => (await conditions())?.length === 2);
  expect(await conditions()).toEqual(['SuccessCriteriaMet SuccessPolicy', 'Complete SuccessPolicy']);
  expect(await statusOfJob()).toMatchObject({ succeeded: 1, completedIndexes: '0' });
  expect((await statusOfJob()).failed).toBeUndefined();
});

test('a failure that the policy ignores does not count, one that fails the job ends it at once', async () => {
  const rules = [
    { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] },
    { action: 'FailJob', onExitCodes: { operator: 'In', values: [42] } },
  ] as const;
  await create({ podFailurePolicy: { rules } });
  await world.settle();
  await failWith({ conditions: [{ type: 'DisruptionTarget', status: 'True' }] });
  await world.settle(12_000);
  expect(await running()).toHaveLength(1);
  expect((await statusOfJob()).failed).toBeUndefined();
  const state = { terminated: { exitCode: 42 } };
  await failWith({
    containerStatuses: [{ name: 'c', image: 'busybox', imageID: '', ready: false, restartCount: 0, state }],
  });
  expect(await conditions()).toEqual(['FailureTarget PodFailurePolicy', 'Failed PodFailurePolicy']);
  const message = /^Container c for pod default\/work-\w+ failed with exit code 42 matching FailJob rule at index 1$/;
  expect((await statusOfJob()).conditions?.[0]?.message).toMatch(message);
  expect((await statusOfJob()).failed).toBe(1);
});

async function failWith(status: object): Promise<void> {
  const [pod] = await running();
  if (!pod) throw new Error('no pod runs');
  const body = { status: { ...status, phase: 'Failed' } };
  await world.client.patch(Pod, pod.metadata, { type: 'strategic', body }, { subresource: 'status' });
  await world.settle(500);
}

test('a job that replaces failed pods only waits until a deleted one is at its end', async () => {
  await create({ podReplacementPolicy: 'Failed', template: placed });
  await world.settle();
  const [pod] = await running();
  if (!pod) throw new Error('no pod runs');
  await world.report(pod, { phase: 'Running', ready: true });
  await world.client.delete(Pod, pod.metadata);
  await world.settle(30_000);
  expect(await running()).toHaveLength(0);
  expect(await statusOfJob()).toMatchObject({ terminating: 1 });
  await end('Failed', pod);
  await world.settle(30_000);
  expect(await running()).toHaveLength(1);
  expect(await statusOfJob()).toMatchObject({ failed: 1, active: 1 });
});

test('a deleted pod that never got a node is replaced even by a job that waits for the end', async () => {
  await create({ podReplacementPolicy: 'Failed' });
  await world.settle();
  const [pod] = await running();
  if (pod) await world.client.delete(Pod, pod.metadata);
  await world.settle(15_000);
  expect(await running()).toHaveLength(1);
  expect(await statusOfJob()).toMatchObject({ failed: 1, active: 1, terminating: 0 });
});

test('pods that the server refuses do not keep others from being counted', async () => {
  await create({ completions: 3, parallelism: 1 });
  await world.settle();
  const [pod] = await running();
  const heal = world.server.faults.on({ verb: 'create', plural: 'pods' }, { do: 'fail', when: 'before' });
  if (pod) await end('Succeeded', pod);
  await world.settle(10_000);
  expect(await statusOfJob()).toMatchObject({ succeeded: 1, uncountedTerminatedPods: {} });
  expect((await statusOfJob()).active).toBeUndefined();
  expect(await events()).toContain('FailedCreate');
  heal();
  await world.settle(600_000);
  expect(await running()).toHaveLength(1);
});

test('a job that another controller manages is left alone', async () => {
  await create({ managedBy: 'example.com/other' });
  await world.settle();
  expect(await running()).toHaveLength(0);
  expect(await statusOfJob()).toEqual({});
});

test('a pod whose job is gone can go, too', async () => {
  await create();
  await world.settle();
  await world.client.delete(Job, ref, { propagationPolicy: 'Background' });
  for (const pod of await world.pods()) await world.client.delete(Pod, pod.metadata, { gracePeriodSeconds: 0 });
  await world.settle(15_000);
  expect(await world.pods()).toEqual([]);
});
