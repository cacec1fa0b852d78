import { isObject, type JsonObject } from '../schema/schema.ts';
import type { WireObject } from '../served-kind.ts';
import { type Behaviour, specDefaults } from './behaviour.ts';
import { type Findings, invalid, required, unchanged } from './field-errors.ts';
import { edit, editEach, fill, isAbsent, isSame, objectAt, textAt, textsOf, without } from './fields.ts';
import { mismatch, selects } from './label-selector.ts';
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
      // Where each index has its own limit, there is none for all of them together.
      backoffLimit: isAbsent(spec['backoffLimitPerIndex']) ? 6 : MOST_FAILURES,
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
    if (old) yield* validateJobUpdate(spec, objectAt(old, 'spec'));
  },
};

const MOST_FAILURES = 2 ** 31 - 1;

function* validateJobUpdate(spec: JsonObject, before: JsonObject): Findings {
  const isUnchanged = (name: string) => isSame(spec[name], before[name]);
  if (spec['completionMode'] !== 'Indexed') {
    yield* unchanged('spec.completions', spec['completions'], isUnchanged('completions'));
  } else if (!isUnchanged('completions') && spec['completions'] !== spec['parallelism']) {
    yield invalid('spec.completions', spec['completions'], 'can only be modified in tandem with spec.parallelism');
  }
  yield* unchanged('spec.selector', spec['selector'], isUnchanged('selector'));
  const [template, old] = [objectAt(spec, 'template'), objectAt(before, 'template')];
  const isTemplateSame =
    before['suspend'] === true ? isSame(fixedPart(template), fixedPart(old)) : isSame(template, old);
  yield* unchanged('spec.template', template, isTemplateSame);
  for (const name of FIXED_FIELDS) yield* unchanged(`spec.${name}`, spec[name], isUnchanged(name));
}

const FIXED_FIELDS = ['completionMode', 'podFailurePolicy', 'backoffLimitPerIndex', 'managedBy', 'successPolicy'];

/** Where the pods of a suspended job shall run, and with how much, is open until they do: queues of jobs decide it late. */
function fixedPart(template: JsonObject): JsonObject {
  const spec = objectAt(template, 'spec');
  const { nodeAffinity: _, ...affinity } = objectAt(spec, 'affinity');
  return {
    ...template,
    metadata: without(objectAt(template, 'metadata'), 'labels', 'annotations'),
    spec: {
      ...editEach(without(spec, 'nodeSelector', 'tolerations', 'schedulingGates'), 'containers', withoutResources),
      affinity: Object.keys(affinity).length > 0 ? affinity : null,
    },
  };
}

const withoutResources = (container: JsonObject) => without(container, 'resources');

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
  if (!isObject(spec['selector']) || !selects(spec['selector'], labels)) yield mismatch(spec);
}

export function* validateJobTemplate(field: string, template: JsonObject): Findings {
  yield* validatePodSpec(`${field}.spec`, objectAt(template, 'spec'));
  const policy = textAt(template, 'spec', 'restartPolicy');
  // A policy that nobody chose is the pod's default; the real server then asks for a choice.
  if (policy === 'Always') yield required(`${field}.spec.restartPolicy`, 'valid values: "OnFailure", "Never"');
}
