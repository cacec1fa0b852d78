import {
  apiVersionOf,
  type CronJob,
  type CronJobStatus,
  type Happening,
  Job,
  type ObjectReference,
  timestamp,
} from '@polder/kube';
import { startOf } from './scheduled-job.ts';

/** Complete, Failed, or neither. */
export function endOf({ status }: Job): 'Complete' | 'Failed' | undefined {
  const isTrue = (wanted: string) =>
    status?.conditions?.some(({ type, status }) => type === wanted && status === 'True');
  return isTrue('Complete') ? 'Complete' : isTrue('Failed') ? 'Failed' : undefined;
}

/** What the jobs say of the cron job, before anything is started. */
export interface Account {
  /** The jobs of its schedule that go on. */
  readonly active: readonly Job[];
  readonly lastScheduleTime: number | undefined;
  readonly status: CronJobStatus;
  readonly news: readonly Happening[];
}

export function accountOf(cronJob: CronJob, jobs: readonly Job[]): Account {
  const { active: refs = [], lastScheduleTime, lastSuccessfulTime } = cronJob.status ?? {};
  const isActive = (job: Job) =>
    endOf(job) === undefined &&
    (startOf(cronJob, job) !== undefined || refs.some(({ uid }) => uid === job.metadata.uid));
  const active = jobs.filter(isActive);
  // A crash may have kept a start out of the status; its job knows of it.
  const starts = jobs.flatMap((job) => startOf(cronJob, job) ?? []);
  const last = latest(timesOf(lastScheduleTime).concat(starts));
  const successes = jobs
    .filter((job) => endOf(job) === 'Complete')
    .flatMap(({ status }) => timesOf(status?.completionTime));
  const success = latest(timesOf(lastSuccessfulTime).concat(successes));
  return {
    active,
    lastScheduleTime: last,
    status: {
      ...(active.length > 0 && {
        active: active.map((job) => refs.find(({ uid }) => uid === job.metadata.uid) ?? refTo(job)),
      }),
      ...(last !== undefined && { lastScheduleTime: timestamp(last) }),
      ...(success !== undefined && { lastSuccessfulTime: timestamp(success) }),
    },
    news: refs.flatMap((ref) => newsOf(ref, jobs)),
  };
}

function newsOf({ uid, name = '' }: ObjectReference, jobs: readonly Job[]): readonly Happening[] {
  const job = jobs.find(({ metadata }) => metadata.uid === uid);
  const tell = (reason: string, note: string): Happening => ({ type: 'Normal', reason, action: 'Sync', note });
  if (!job) return [tell('MissingJob', `Active job went missing: ${name}`)];
  const end = endOf(job);
  return end === undefined ? [] : [tell('SawCompletedJob', `Saw completed job: ${name}, condition: ${end}`)];
}

function refTo({ metadata }: Job): ObjectReference {
  const { name, namespace, uid, resourceVersion } = metadata;
  return {
    apiVersion: apiVersionOf(Job),
    kind: Job.kind,
    name,
    ...(namespace !== undefined && { namespace }),
    ...(uid !== undefined && { uid }),
    ...(resourceVersion !== undefined && { resourceVersion }),
  };
}

const timesOf = (text: string | undefined) => (text === undefined ? [] : [Date.parse(text)]);
const latest = (times: readonly number[]) => (times.length === 0 ? undefined : Math.max(...times));
