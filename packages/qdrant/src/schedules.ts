import { problemWithSchedule } from '@polder/kube/cron';

/** Why a line of cron is none. An empty one is no schedule, which is allowed. */
export function objectionToSchedule(field: string, schedule = ''): readonly string[] {
  const problem = schedule.trim() === '' ? undefined : problemWithSchedule(schedule);
  return problem === undefined ? [] : [`${field} is ${JSON.stringify(schedule)}: ${problem}`];
}
