import { isObject, type JsonObject } from '../schema/schema.ts';
import type { WireObject } from '../served-kind.ts';
import { type Behaviour, specDefaults } from './behaviour.ts';
import { type Findings, invalid, required, unchanged } from './field-errors.ts';
import { edit, editEach, fill, isAbsent, isSame, objectAt, textAt, textsOf, valueAt } from './fields.ts';
import { selects } from './label-selector.ts';
import { withTemplate } from './pod-defaults.ts';
import { validatePodSpec } from './pod-validation.ts';
import { countsOf } from './workload-validation.ts';

export const JOB_COUNTS = [
  'parallelism',
  'completions',
  'activeDeadlineSeconds',
  'backoffLimit',
  'ttlSecondsAfterFinished',
];

export const job: Behaviour = {
  generation: true,
  defaults: specDefaults((spec) => {
    const isOnce = isAbsent(spec['completions']) && isAbsent(spec['parallelism']);
    const hasPolicy = isObject(spec['podFailurePolicy']);
    const filled = fill(withTemplate(spec), {
      ...(isOnce && { completions: 1 }),
      parallelism: 1,
      backoffLimit: 6,
      completionMode: 'NonIndexed',
      suspend: false,
      manualSelector: false,
      podReplacementPolicy: hasPolicy ? 'Failed' : 'TerminatingOrFailed',
    });
    return edit(filled, 'podFailurePolicy', (policy) =>
      editEach(policy, 'rules', (rule) =>
        editEach(rule, 'onPodConditions', (condition) => fill(condition, { status: 'True' })),
      ),
    );
  }),
  prepare: (object) => ({ ...withGeneratedSelector(object), status: {} }),
  *validate(object, old) {
    const spec = objectAt(object, 'spec');
    yield* countsOf(spec, ...JOB_COUNTS);
    yield* validateSelectorOf(spec);
    yield* validateJobTemplate('spec.template', objectAt(spec, 'template'));
    if (!old) return;
    for (const name of ['completions', 'selector', 'completionMode']) {
      const [now, before] = [valueAt(spec, name), valueAt(old, 'spec', name)];
      yield* unchanged(`spec.${name}`, now, isSame(now, before));
    }
    const [now, before] = [valueAt(spec, 'template'), valueAt(old, 'spec', 'template')];
    yield* unchanged('spec.template', now, isSame(now, before));
  },
};

/** A job's pods are told apart by its uid, so that a job of the same name never adopts its forerunner's. */
function withGeneratedSelector(object: WireObject): WireObject {
  const spec = objectAt(object, 'spec');
  if (spec['manualSelector'] === true) return object;
  const { name, uid } = object.metadata;
  const generated = {
    'batch.kubernetes.io/controller-uid': uid,
    'batch.kubernetes.io/job-name': name,
    'controller-uid': uid,
    'job-name': name,
  };
  const template = objectAt(spec, 'template');
  const metadata = objectAt(template, 'metadata');
  const labels = { ...objectAt(metadata, 'labels'), ...generated };
  return {
    ...object,
    metadata: { ...object.metadata, labels: object.metadata.labels ?? textsOf(labels) },
    spec: {
      ...spec,
      selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': uid } },
      template: { ...template, metadata: { ...metadata, labels } },
    },
  };
}

function* validateSelectorOf(spec: JsonObject): Findings {
  if (!isObject(spec['selector'])) yield required('spec.selector');
  const labels = objectAt(spec, 'template', 'metadata', 'labels');
  if (!isObject(spec['selector']) || !selects(spec['selector'], labels)) {
    const value = Object.keys(labels).length === 0 ? null : labels;
    yield invalid('spec.template.metadata.labels', value, '`selector` does not match template `labels`');
  }
}

export function* validateJobTemplate(field: string, template: JsonObject): Findings {
  yield* validatePodSpec(`${field}.spec`, objectAt(template, 'spec'));
  const policy = textAt(template, 'spec', 'restartPolicy');
  // A policy that nobody chose is the pod's default; the real server then asks for a choice.
  if (policy === 'Always') yield required(`${field}.spec.restartPolicy`, 'valid values: "OnFailure", "Never"');
}
