import { CronJob, type CronJobSpec, EventsV1Event, Job, ownerReference, register, timestamp } from '@polder/kube';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { jobs } from '../job/index.ts';
import { TestWorld } from '../test-world.ts';
import { cronJobs } from './index.ts';

const MINUTE = 60_000;

let world: TestWorld;
beforeEach(async () => {
  world = new TestWorld();
  // Ten seconds past a full hour, whenever the clock began.
  await world.settle(3_600_000 - (world.clock.now() % 3_600_000) + 10_000);
  world.run(register(cronJobs), register(jobs));
});
afterEach(() => world.stop());

const ref = { namespace: 'default', name: 'tick' };
const template = { spec: { restartPolicy: 'Never' as const, containers: [{ name: 'c', image: 'busybox' }] } };
const jobTemplate = { metadata: { labels: { app: 'tick' } }, spec: { template } };
const create = (spec: Partial<CronJobSpec> = {}) =>
  world.client.create(CronJob, { metadata: ref, spec: { schedule: '* * * * *', jobTemplate, ...spec } });
const statusOfCronJob = async () => (await world.client.get(CronJob, ref)).status ?? {};
const jobsNow = async () => (await world.client.list(Job, { namespace: 'default' })).items;
const names = async () => (await jobsNow()).map(({ metadata }) => metadata.name).toSorted();
/** What a job that starts at the next full minute, or one of those after it, is called. */
const nameAt = (minutes: number) => `tick-${Math.floor(world.clock.now() / MINUTE) + minutes}`;
const finishPods = async (phase: 'Succeeded' | 'Failed' = 'Succeeded') => {
  for (const pod of await world.pods()) {
    if (!/Succeeded|Failed/.test(pod.status?.phase ?? '')) await world.report(pod, { phase, ready: false });
  }
  await world.settle(2_000);
};
const events = async () => {
  await world.settle(1_000);
  const { items } = await world.client.list(EventsV1Event, { namespace: 'default' });
  return items.filter(({ regarding }) => regarding?.kind === 'CronJob').map(({ reason, note }) => `${reason}: ${note}`);
};

test('a job is made at each start, named and annotated after it', async () => {
  await create();
  const [first, second] = [nameAt(1), nameAt(2)];
  await world.settle(2 * MINUTE);
  expect(await names()).toEqual([first, second]);
  const [job] = await jobsNow();
  expect(job?.metadata.labels).toEqual({ app: 'tick' });
  expect(job?.metadata.annotations?.['batch.kubernetes.io/cronjob-scheduled-timestamp']).toMatch(/:00Z$/);
  const { active, lastScheduleTime } = await statusOfCronJob();
  expect(active?.map(({ kind, name }) => `${kind} ${name}`)).toEqual([`Job ${first}`, `Job ${second}`]);
  expect(Date.parse(lastScheduleTime ?? '')).toBe(Math.floor(world.clock.now() / MINUTE) * MINUTE);
  expect(await events()).toContain(`SuccessfulCreate: Created job ${first}`);
});

test('a finished job leaves the active ones, and success is remembered', async () => {
  await create({ schedule: '@hourly' });
  await world.settle(60 * MINUTE);
  const [name] = await names();
  await finishPods();
  const { active, lastSuccessfulTime } = await statusOfCronJob();
  expect([active, lastSuccessfulTime]).toEqual([undefined, expect.any(String)]);
  expect(await events()).toContain(`SawCompletedJob: Saw completed job: ${name}, condition: Complete`);
});

test('only so many finished jobs are kept, the newest', async () => {
  await create({ successfulJobsHistoryLimit: 2 });
  const kept = [nameAt(3), nameAt(4)];
  for (let i = 0; i < 4; i++) {
    await world.settle(MINUTE - 3_000);
    await finishPods();
    await world.settle(1_000);
  }
  expect(await names()).toEqual(kept);
});

test('with Forbid, a start waits for the job before it and is made up for once', async () => {
  await create({ concurrencyPolicy: 'Forbid' });
  const first = nameAt(1);
  await world.settle(3 * MINUTE);
  expect(await names()).toEqual([first]);
  expect(await events()).toContain(
    'JobAlreadyActive: Not starting job because prior execution is running and concurrency policy is Forbid',
  );
  const latest = nameAt(0);
  await finishPods();
  expect(await names()).toEqual([first, latest]);
});

test('with Replace, the next job takes the place of one that still runs', async () => {
  await create({ concurrencyPolicy: 'Replace' });
  const second = nameAt(2);
  await world.settle(2 * MINUTE);
  await world.settle(5_000);
  expect(await names()).toEqual([second]);
  expect((await statusOfCronJob()).active?.map(({ name }) => name)).toEqual([second]);
});

test('a suspended cron job starts nothing; resumed, it makes up for the latest start only', async () => {
  await create({ suspend: true });
  await world.settle(10 * MINUTE);
  expect(await names()).toEqual([]);
  const latest = nameAt(0);
  await world.client.patch(CronJob, ref, { type: 'merge', body: { spec: { suspend: false } } });
  await world.settle(1_000);
  expect(await names()).toEqual([latest]);
});

test('a start that is later than its deadline is not made', async () => {
  await create({ suspend: true, schedule: '@hourly', startingDeadlineSeconds: 60 });
  await world.settle(65 * MINUTE);
  await world.client.patch(CronJob, ref, { type: 'merge', body: { spec: { suspend: false } } });
  await world.settle(1_000);
  expect(await names()).toEqual([]);
  await world.settle(60 * MINUTE);
  expect(await names()).toHaveLength(1);
});

test('more than a hundred missed starts are a warning, and one job', async () => {
  await create({ suspend: true });
  await world.settle(200 * MINUTE);
  await world.client.patch(CronJob, ref, { type: 'merge', body: { spec: { suspend: false } } });
  await world.settle(1_000);
  expect(await names()).toHaveLength(1);
  expect((await events()).join()).toContain('TooManyMissedTimes: too many missed start times.');
});

test('a start that was made and not written down before a crash is not made again', async () => {
  await create({ suspend: true });
  const owner = await world.client.get(CronJob, ref);
  await world.settle(MINUTE);
  const time = Math.floor(world.clock.now() / MINUTE) * MINUTE;
  const annotations = {
    'batch.kubernetes.io/cronjob-scheduled-timestamp': timestamp(time),
  };
  const metadata = {
    name: nameAt(0),
    namespace: 'default',
    annotations,
    ownerReferences: [ownerReference(CronJob, owner)],
  };
  await world.client.create(Job, { metadata, spec: { template } });
  await world.client.patch(CronJob, ref, { type: 'merge', body: { spec: { suspend: false } } });
  await world.settle(5_000);
  expect(await names()).toEqual([metadata.name]);
  const { active, lastScheduleTime } = await statusOfCronJob();
  expect([active?.length, Date.parse(lastScheduleTime ?? '')]).toEqual([1, time]);
});

test('a job made by hand is none of the active ones, and is pointed out', async () => {
  await create({ suspend: true });
  const owner = await world.client.get(CronJob, ref);
  const metadata = { name: 'by-hand', namespace: 'default', ownerReferences: [ownerReference(CronJob, owner)] };
  await world.client.create(Job, { metadata, spec: { template } });
  await world.settle();
  expect((await statusOfCronJob()).active).toBeUndefined();
  expect(await events()).toContain('UnexpectedJob: Saw a job that the controller did not create or forgot: by-hand');
  await finishPods();
  expect((await statusOfCronJob()).lastSuccessfulTime).toBeDefined();
});

test('between its starts, nothing is written', async () => {
  await create({ schedule: '@yearly' });
  await world.settle();
  world.writes.length = 0;
  await world.settle(24 * 60 * MINUTE);
  expect(world.writes).toEqual([]);
});
