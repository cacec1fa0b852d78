import { isTimeZone, problemWithSchedule } from '@polder/kube/cron';
import { type Behaviour, firstStatus, specDefaults } from './behaviour.ts';
import { type Findings, invalid, notNegative, notSupported, required } from './field-errors.ts';
import { edit, fill, numberAt, objectAt, textAt } from './fields.ts';
import { JOB_COUNTS, validateJobTemplate } from './job.ts';
import { withTemplate } from './pod-defaults.ts';
import { countsOf } from './workload-validation.ts';

const CONCURRENCY = ['Allow', 'Forbid', 'Replace'];

export const cronJob: Behaviour = {
  name: (name) => (name.length > 52 ? ['must be no more than 52 characters'] : []),
  generation: true,
  defaults: specDefaults((spec) =>
    edit(
      fill(spec, {
        concurrencyPolicy: 'Allow',
        suspend: false,
        successfulJobsHistoryLimit: 3,
        failedJobsHistoryLimit: 1,
      }),
      'jobTemplate',
      (template) => ({
        ...template,
        metadata: objectAt(template, 'metadata'),
        spec: withTemplate(objectAt(template, 'spec')),
      }),
    ),
  ),
  prepare: firstStatus({}),
  *validate(object) {
    const spec = objectAt(object, 'spec');
    yield* validateSchedule(textAt(spec, 'schedule'));
    const timeZone = textAt(spec, 'timeZone');
    if (timeZone !== '' && !isTimeZone(timeZone)) {
      yield invalid('spec.timeZone', timeZone, `unknown time zone ${timeZone}`);
    }
    yield* countsOf(spec, 'startingDeadlineSeconds');
    const policy = textAt(spec, 'concurrencyPolicy');
    if (!CONCURRENCY.includes(policy)) yield notSupported('spec.concurrencyPolicy', policy, CONCURRENCY);
    yield* countsOf(spec, 'successfulJobsHistoryLimit', 'failedJobsHistoryLimit');
    const inner = objectAt(spec, 'jobTemplate', 'spec');
    for (const name of JOB_COUNTS) yield* notNegative(`spec.jobTemplate.spec.${name}`, numberAt(inner, name));
    yield* validateJobTemplate('spec.jobTemplate.spec.template', objectAt(inner, 'template'));
  },
};

function* validateSchedule(schedule: string): Findings {
  if (schedule === '') yield required('spec.schedule');
  else {
    // The parser takes a zone in front, which is not for users.
    const problem = problemWithSchedule(schedule.replace(/^(CRON_)?TZ=\S+ /, ''));
    if (problem !== undefined) yield invalid('spec.schedule', schedule, problem);
    if (schedule.includes('TZ')) {
      yield invalid('spec.schedule', schedule, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead');
    }
  }
}
