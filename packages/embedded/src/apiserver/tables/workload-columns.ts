import { listAt, numberAt, objectAt, objectsAt, shownAt, textAt, valueAt } from '../builtin/fields.ts';
import type { Column, WireObject } from '../served-kind.ts';
import { AGE, column, countCell, labelsText, podColumns, selectorColumn, textCell } from './columns.ts';
import { humanDuration, since } from './human-duration.ts';

const template = podColumns('spec', 'template');

export const replicaTable: readonly Column[] = [
  column('Desired', countCell('spec', 'replicas'), 'integer'),
  column('Current', countCell('status', 'replicas'), 'integer'),
  column('Ready', countCell('status', 'readyReplicas'), 'integer'),
  AGE,
  ...template,
  selectorColumn,
];

const ready = column(
  'Ready',
  (object) => `${numberAt(object, 'status', 'readyReplicas') ?? 0}/${numberAt(object, 'spec', 'replicas') ?? 0}`,
);

export const deploymentTable: readonly Column[] = [
  ready,
  column('Up-to-date', countCell('status', 'updatedReplicas')),
  column('Available', countCell('status', 'availableReplicas')),
  AGE,
  ...template,
  selectorColumn,
];

export const statefulSetTable: readonly Column[] = [ready, AGE, ...template];

export const daemonSetTable: readonly Column[] = [
  column('Desired', countCell('status', 'desiredNumberScheduled'), 'integer'),
  column('Current', countCell('status', 'currentNumberScheduled'), 'integer'),
  column('Ready', countCell('status', 'numberReady'), 'integer'),
  column('Up-to-date', countCell('status', 'updatedNumberScheduled'), 'integer'),
  column('Available', countCell('status', 'numberAvailable'), 'integer'),
  column('Node Selector', (object) => labelsText(object, 'spec', 'template', 'spec', 'nodeSelector')),
  AGE,
  ...template,
  selectorColumn,
];

export const jobTable: readonly Column[] = [
  column('Status', jobStatus),
  column('Completions', jobCompletions),
  column('Duration', jobDuration),
  AGE,
  ...template,
  selectorColumn,
];

const hasCondition = (job: WireObject, type: string) =>
  objectsAt(job, 'status', 'conditions').some(
    (condition) => condition['type'] === type && condition['status'] === 'True',
  );

function jobStatus(job: WireObject): string {
  const ended = ['Complete', 'Failed'].find((type) => hasCondition(job, type));
  if (ended !== undefined) return ended;
  if (job.metadata.deletionTimestamp !== undefined) return 'Terminating';
  return ['Suspended', 'FailureTarget', 'SuccessCriteriaMet'].find((type) => hasCondition(job, type)) ?? 'Running';
}

function jobCompletions(job: WireObject): string {
  const succeeded = numberAt(job, 'status', 'succeeded') ?? 0;
  const completions = numberAt(job, 'spec', 'completions');
  if (completions !== undefined) return `${succeeded}/${completions}`;
  const parallelism = numberAt(job, 'spec', 'parallelism') ?? 0;
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function jobDuration(job: WireObject, now: number): string {
  const start = textAt(job, 'status', 'startTime');
  if (start === '') return '';
  const failed = objectsAt(job, 'status', 'conditions').find(
    ({ type, status }) => type === 'Failed' && status === 'True',
  );
  const end = textAt(job, 'status', 'completionTime') || textAt(failed, 'lastTransitionTime');
  return humanDuration((end === '' ? now : Date.parse(end)) - Date.parse(start));
}

export const cronJobTable: readonly Column[] = [
  column('Schedule', textCell(['spec', 'schedule'])),
  column('Timezone', textCell(['spec', 'timeZone'], '<none>')),
  // The column is declared a boolean; the real server sends this text all the same.
  column('Suspend', (object) => (valueAt(object, 'spec', 'suspend') === true ? 'True' : 'False'), 'boolean'),
  column('Active', (object) => listAt(object, 'status', 'active').length, 'integer'),
  column('Last Schedule', (object, now) => {
    const last = textAt(object, 'status', 'lastScheduleTime');
    return last === '' ? '<none>' : since(last, now);
  }),
  AGE,
  ...podColumns('spec', 'jobTemplate', 'spec', 'template'),
  { ...selectorColumn, cell: (object) => labelsText(object, 'spec', 'jobTemplate', 'spec', 'selector') },
];

export const podTemplateTable: readonly Column[] = [
  ...podColumns('template').map((each) => ({ ...each, priority: 0 })),
  column('Pod Labels', (object) => labelsText(object, 'template', 'metadata', 'labels')),
];

export const controllerRevisionTable: readonly Column[] = [
  column('Controller', ({ metadata }) => {
    const owner = objectsAt(metadata, 'ownerReferences').find(({ controller }) => controller === true);
    if (!owner) return '<none>';
    const [group = ''] = textAt(owner, 'apiVersion').includes('/') ? textAt(owner, 'apiVersion').split('/') : [''];
    const kind = textAt(owner, 'kind').toLowerCase();
    return `${group === '' ? kind : `${kind}.${group}`}/${textAt(owner, 'name')}`;
  }),
  column('Revision', countCell('revision')),
  AGE,
];

const available = (field: string) => (object: WireObject) => shownAt(object, 'spec', field) || 'N/A';

export const podDisruptionBudgetTable: readonly Column[] = [
  column('Min Available', available('minAvailable')),
  column('Max Unavailable', available('maxUnavailable')),
  column('Allowed Disruptions', countCell('status', 'disruptionsAllowed'), 'integer'),
  AGE,
];

export const horizontalPodAutoscalerTable: readonly Column[] = [
  column('Reference', (object) => {
    const target = objectAt(object, 'spec', 'scaleTargetRef');
    return `${textAt(target, 'kind')}/${textAt(target, 'name')}`;
  }),
  column('Targets', targets),
  column('MinPods', (object) => String(numberAt(object, 'spec', 'minReplicas') ?? '<unset>')),
  column('MaxPods', countCell('spec', 'maxReplicas')),
  column('Replicas', countCell('status', 'currentReplicas')),
  AGE,
];

const SOURCES: Readonly<Record<string, string>> = {
  Resource: 'resource',
  ContainerResource: 'containerResource',
  Pods: 'pods',
  Object: 'object',
  External: 'external',
};

/** The first two, and how many more. */
function targets(object: WireObject): string {
  const all = objectsAt(object, 'spec', 'metrics').map((_, index) => target(object, index));
  const more = all.length > 2 ? ` + ${all.length - 2} more...` : '';
  return all.length === 0 ? '<none>' : `${all.slice(0, 2).join(', ')}${more}`;
}

/** `cpu: 20%/80%`: what is, and what should be. */
function target(object: WireObject, index: number): string {
  const metric = objectsAt(object, 'spec', 'metrics')[index];
  const source = SOURCES[textAt(metric, 'type')] ?? '';
  const wanted = objectAt(metric, source, 'target');
  const current = objectAt(objectsAt(object, 'status', 'currentMetrics')[index], source, 'current');
  const isUtilization = numberAt(wanted, 'averageUtilization') !== undefined;
  const field = isUtilization
    ? 'averageUtilization'
    : valueAt(wanted, 'averageValue') !== undefined
      ? 'averageValue'
      : 'value';
  const unit = isUtilization ? '%' : '';
  const now = shownAt(current, field);
  const amount = `${now === '' ? '<unknown>' : `${now}${unit}`}/${shownAt(wanted, field) || '<auto>'}${unit}`;
  return source === 'resource' ? `${textAt(metric, source, 'name')}: ${amount}` : amount;
}
