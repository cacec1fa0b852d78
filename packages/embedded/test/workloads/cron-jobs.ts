import { timestamp } from '@polder/kube';
import { job, jobs, pod } from '../contract/objects.ts';
import type { Body } from '../contract/wire.ts';
import { onDrivenNode } from './pods.ts';
import { expect, topic } from './suite.ts';
import type { Workloads } from './workloads.ts';

type Fields = Readonly<Record<string, unknown>>;

const SCHEDULED = 'batch.kubernetes.io/cronjob-scheduled-timestamp';
const MINUTE = 60_000;

/** So many minutes ago, at a full minute. */
const minutesAgo = (minutes: number) => Math.floor(Date.now() / MINUTE) * MINUTE - minutes * MINUTE;
/** Every hour, at the minute of this time: the last start was then, if that is less than an hour ago. */
const hourlyAt = (time: number) => `${new Date(time).getUTCMinutes()} * * * *`;
const nameAt = (time: number) => `a-${time / MINUTE}`;

const drivenTemplate = { spec: { ...pod('').spec, restartPolicy: 'Never', ...onDrivenNode } };

/** A cron job in a namespace of its own. It begins suspended and three hours behind: what it does shows as soon as it goes on. */
class OneCronJob {
  readonly namespace: string;
  readonly path: string;
  readonly jobs: string;
  readonly #world: Workloads;

  constructor(world: Workloads, namespace: string) {
    this.#world = world;
    this.namespace = namespace;
    this.path = `/apis/batch/v1/namespaces/${namespace}/cronjobs/a`;
    this.jobs = jobs(namespace);
  }

  /** The pods of its jobs do nothing by themselves, unless `ends` says so. */
  static async of(world: Workloads, spec: Fields, { ends = false } = {}): Promise<OneCronJob> {
    const one = new OneCronJob(world, await world.namespace());
    const { wire } = world;
    const jobSpec = ends ? job('').spec : { template: drivenTemplate };
    const template = { metadata: { labels: { of: 'a' }, annotations: { note: 'kept' } }, spec: jobSpec };
    const body = {
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata: { name: 'a' },
      spec: { suspend: true, jobTemplate: template, ...spec },
    };
    await wire.must(wire.create(one.path.replace(/\/a$/, ''), body));
    const status = { lastScheduleTime: timestamp(minutesAgo(180)) };
    await wire.must(wire.patch('merge', `${one.path}/status`, { status }));
    return one;
  }

  change = (spec: Fields): Promise<Body> => this.#world.wire.must(this.#world.wire.patch('merge', this.path, { spec }));

  goOn = (): Promise<Body> => this.change({ suspend: false });

  becomes = (like: Fields): Promise<Body> => this.#world.becomes(this.path, like);

  recorded = (type: string, reason: string, message: unknown): Promise<void> =>
    this.#world.recorded(this.namespace, 'a', { type, reason, message });

  /** Waits until exactly these jobs are there. */
  jobsBecome = (...names: readonly string[]): Promise<readonly Body[]> =>
    this.#world.settles(async () => {
      const { body } = await this.#world.wire.get(this.jobs);
      expect(body.items.map(({ metadata }) => metadata.name)).toEqual(names.toSorted());
      return body.items;
    });

  /** As `kubectl create job --from=cronjob/a` makes it. */
  byHand = async (name: string): Promise<void> => {
    const { metadata } = await this.becomes({});
    const owner = { apiVersion: 'batch/v1', kind: 'CronJob', name: 'a', uid: metadata.uid, controller: true };
    const annotations = { 'cronjob.kubernetes.io/instantiate': 'manual' };
    const made = { ...job(name), metadata: { name, annotations, ownerReferences: [owner] } };
    await this.#world.wire.must(this.#world.wire.create(this.jobs, made));
  };

  /** All pods of its jobs have done their work. */
  finish = async (count: number): Promise<void> => {
    const working = await this.#world.podsBecome(this.namespace, 'job-name', count);
    for (const { metadata } of working) {
      await this.#world.succeed(await this.#world.scheduled(this.namespace, metadata.name));
    }
  };
}

export const cronJobs = topic('cron jobs', (promise) => {
  promise('make a job for the latest start they missed, named and marked after it', async (world) => {
    const due = minutesAgo(20);
    const one = await OneCronJob.of(world, { schedule: hourlyAt(due) });
    await one.goOn();
    const [made] = await one.jobsBecome(nameAt(due));
    expect(made?.metadata).toMatchObject({
      labels: { of: 'a' },
      annotations: { note: 'kept', [SCHEDULED]: timestamp(due) },
      ownerReferences: [
        { apiVersion: 'batch/v1', kind: 'CronJob', name: 'a', controller: true, blockOwnerDeletion: true },
      ],
    });
    await one.recorded('Normal', 'SuccessfulCreate', `Created job ${nameAt(due)}`);
  });

  promise('know their running jobs, and when one was last started and last succeeded', async (world) => {
    const due = minutesAgo(20);
    const one = await OneCronJob.of(world, { schedule: hourlyAt(due) });
    await one.goOn();
    const { status } = await one.becomes({ status: { lastScheduleTime: timestamp(due), active: expect.anything() } });
    const [made] = await one.jobsBecome(nameAt(due));
    expect(status).toEqual({
      lastScheduleTime: timestamp(due),
      active: [
        {
          apiVersion: 'batch/v1',
          kind: 'Job',
          name: nameAt(due),
          namespace: one.namespace,
          uid: made?.metadata.uid,
          resourceVersion: expect.any(String),
        },
      ],
    });
    await one.finish(1);
    const ended = await one.becomes({ status: { lastSuccessfulTime: expect.any(String) } });
    expect(ended.status).not.toHaveProperty('active');
    await one.recorded('Normal', 'SawCompletedJob', `Saw completed job: ${nameAt(due)}, condition: Complete`);
  });

  promise('follow the clock of their time zone', async (world) => {
    const due = minutesAgo(20);
    // Half an hour off, so that a wrong zone is a wrong start.
    const shown = new Date(due + 330 * MINUTE);
    const schedule = `${shown.getUTCMinutes()} ${shown.getUTCHours()} * * *`;
    const one = await OneCronJob.of(world, { schedule, timeZone: 'Asia/Kolkata' });
    await one.goOn();
    const [made] = await one.jobsBecome(nameAt(due));
    expect(made?.metadata.annotations[SCHEDULED]).toBe(`${shown.toISOString().slice(0, 19)}+05:30`);
  });

  promise('warn of too many missed starts, and make up for one', async (world) => {
    const one = await OneCronJob.of(world, { schedule: '* * * * *' }, { ends: true });
    await one.goOn();
    await one.becomes({ status: { lastScheduleTime: expect.not.stringContaining(timestamp(minutesAgo(180))) } });
    await one.change({ suspend: true });
    const message = 'too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew';
    await one.recorded('Warning', 'TooManyMissedTimes', message);
    const { body } = await world.wire.get(one.jobs);
    expect(body.items.length, 'one, or two if a minute began meanwhile').toBeLessThanOrEqual(2);
  });

  promise('do not make up for a start whose deadline has passed', async (world) => {
    const due = minutesAgo(20);
    const one = await OneCronJob.of(world, { schedule: hourlyAt(due), startingDeadlineSeconds: 300 });
    await one.goOn();
    // The same again without a deadline: when its job is there, the other one's would be, too.
    const other = await OneCronJob.of(world, { schedule: hourlyAt(due) });
    await other.goOn();
    await other.jobsBecome(nameAt(due));
    await one.jobsBecome();
    await one.change({ startingDeadlineSeconds: 3600 });
    await one.jobsBecome(nameAt(due));
  });

  /** Two starts: the job of the first still runs when the second is due. */
  const twice = async (world: Workloads, concurrencyPolicy: string) => {
    const [first, second] = [minutesAgo(40), minutesAgo(20)];
    const one = await OneCronJob.of(world, { schedule: hourlyAt(first), concurrencyPolicy });
    await one.goOn();
    await one.becomes({ status: { active: [{ name: nameAt(first) }] } });
    await one.change({ suspend: true, schedule: hourlyAt(second) });
    await one.goOn();
    return { one, first: nameAt(first), second: nameAt(second) };
  };

  promise('run jobs beside each other if allowed', async (world) => {
    const { one, first, second } = await twice(world, 'Allow');
    await one.jobsBecome(first, second);
    await one.becomes({ status: { active: [{ name: first }, { name: second }] } });
  });

  promise('hold back a job while another runs if concurrency is forbidden', async (world) => {
    const { one, first, second } = await twice(world, 'Forbid');
    const message = 'Not starting job because prior execution is running and concurrency policy is Forbid';
    await one.recorded('Normal', 'JobAlreadyActive', message);
    await one.jobsBecome(first);
    await one.finish(1);
    await one.jobsBecome(first, second);
  });

  promise('end a running job for the next one if it is to be replaced', async (world) => {
    const { one, first, second } = await twice(world, 'Replace');
    await one.jobsBecome(second);
    await one.becomes({ status: { active: [{ name: second }] } });
    await one.recorded('Normal', 'SuccessfulDelete', `Deleted job ${first}`);
  });

  promise('notice that a running job has gone', async (world) => {
    const due = minutesAgo(20);
    const one = await OneCronJob.of(world, { schedule: hourlyAt(due) });
    await one.goOn();
    await one.becomes({ status: { active: [{ name: nameAt(due) }] } });
    await world.wire.must(world.wire.delete(`${one.jobs}/${nameAt(due)}`, { propagationPolicy: 'Background' }));
    await one.recorded('Normal', 'MissingJob', `Active job went missing: ${nameAt(due)}`);
    await world.settles(async () => {
      const { status } = await one.becomes({});
      expect(status).toEqual({ lastScheduleTime: timestamp(due) });
    });
  });

  promise('keep as many finished jobs as they are told, those made by hand included', async (world) => {
    const one = await OneCronJob.of(world, { schedule: '@yearly', successfulJobsHistoryLimit: 1 });
    await one.byHand('first');
    await one.becomes({ status: { lastSuccessfulTime: expect.any(String) } });
    await one.byHand('second');
    await one.jobsBecome('second');
    await one.recorded('Normal', 'SuccessfulDelete', 'Deleted job first');
  });

  promise('point out a job that they did not make', async (world) => {
    const one = await OneCronJob.of(world, { schedule: '@yearly' });
    await one.byHand('extra');
    await one.recorded('Warning', 'UnexpectedJob', 'Saw a job that the controller did not create or forgot: extra');
    const { status } = await one.becomes({ status: { lastSuccessfulTime: expect.any(String) } });
    expect(status).not.toHaveProperty('active');
  });
});
