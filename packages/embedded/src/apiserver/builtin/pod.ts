import type { JsonObject } from '../schema/schema.ts';
import type { WireObject } from '../served-kind.ts';
import { type Behaviour, specDefaults } from './behaviour.ts';
import { validateEphemeralContainers } from './ephemeral-containers.ts';
import { type Findings, forbidden } from './field-errors.ts';
import { editEach, fill, isSame, objectAt, objectsAt, textAt, valueAt } from './fields.ts';
import { podSpec, podTemplate, requestsFromLimits } from './pod-defaults.ts';
import { validatePodSpec, validateTemplate } from './pod-validation.ts';

export const pod: Behaviour = {
  generation: true,
  defaults: specDefaults((spec) => {
    let filled = fill(podSpec(spec), { enableServiceLinks: true });
    for (const list of ['initContainers', 'containers']) filled = editEach(filled, list, requestsFromLimits);
    return filled['hostNetwork'] === true ? editEach(filled, 'containers', hostPorts) : filled;
  }),
  prepare: (object) => ({ ...object, status: firstStatusOf(object) }),
  *validate(object, old) {
    const spec = objectAt(object, 'spec');
    yield* validatePodSpec('spec', spec);
    yield* validateEphemeralContainers(spec, old && objectAt(old, 'spec'));
    if (old) yield* validateUpdate(spec, objectAt(old, 'spec'));
  },
};

export const podTemplateKind: Behaviour = {
  generation: true,
  defaults: (object: WireObject) => ({ ...object, template: podTemplate(objectAt(object, 'template')) }),
  *validate(object) {
    yield* validateTemplate('template', objectAt(object, 'template'), ['Always', 'OnFailure', 'Never']);
  },
};

/** On the host's network, a port of the container is one of the host. */
function hostPorts(container: JsonObject): JsonObject {
  return editEach(container, 'ports', (port) => fill(port, { hostPort: port['containerPort'] ?? null }));
}

/** Decides who is evicted first. Amounts are in canonical form here, so that equal ones are spelled alike. */
export function qosClass(spec: JsonObject): 'Guaranteed' | 'Burstable' | 'BestEffort' {
  const requirements = [...objectsAt(spec, 'initContainers'), ...objectsAt(spec, 'containers')].map((container) => ({
    limits: computeOf(objectAt(container, 'resources', 'limits')),
    requests: computeOf(objectAt(container, 'resources', 'requests')),
  }));
  if (requirements.every(({ limits, requests }) => limits.length + requests.length === 0)) return 'BestEffort';
  const isGuaranteed = requirements.every(
    ({ limits, requests }) => limits.length === 2 && limits.every((limit, index) => limit === requests[index]),
  );
  return isGuaranteed ? 'Guaranteed' : 'Burstable';
}

function computeOf(amounts: JsonObject): readonly string[] {
  return ['cpu', 'memory'].flatMap((name) => {
    const amount = textAt(amounts, name);
    return amount === '' || amount === '0' ? [] : [`${name}=${amount}`];
  });
}

export const POD_MUTABLE =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

/** The real server appends a diff of its internal structures to the message; the rule alone is what people search for. */
function* validateUpdate(spec: JsonObject, old: JsonObject): Findings {
  const isKept = objectsAt(old, 'tolerations').every((one) =>
    objectsAt(spec, 'tolerations').some((other) => isSame(tolerated(one), tolerated(other))),
  );
  if (!isKept) {
    yield forbidden('spec.tolerations', 'existing toleration can not be modified except its tolerationSeconds');
  }
  if (!isKept || !isSame(frozen(spec), frozen(old))) yield forbidden('spec', POD_MUTABLE);
}

const tolerated = (toleration: JsonObject): JsonObject => ({ ...toleration, tolerationSeconds: null });

/** The part of a spec that may not change. Gates may be lifted; a negative grace period may become 1. */
function frozen(spec: JsonObject): JsonObject {
  const withoutImages = ['containers', 'initContainers'].reduce(
    (changed, list) => editEach(changed, list, (container) => ({ ...container, image: null })),
    spec,
  );
  const grace = valueAt(spec, 'terminationGracePeriodSeconds');
  return {
    ...withoutImages,
    activeDeadlineSeconds: null,
    tolerations: null,
    schedulingGates: null,
    ephemeralContainers: null,
    terminationGracePeriodSeconds: typeof grace === 'number' && grace < 0 ? 1 : (grace ?? null),
  };
}

/** A pod with gates says from its first moment that nobody is to place it. */
function firstStatusOf(object: WireObject): JsonObject {
  const spec = objectAt(object, 'spec');
  const status = { phase: 'Pending', qosClass: qosClass(spec) };
  if (objectsAt(spec, 'schedulingGates').length === 0) return status;
  const gated = {
    type: 'PodScheduled',
    status: 'False',
    reason: 'SchedulingGated',
    message: 'Scheduling is blocked due to non-empty scheduling gates',
    lastProbeTime: null,
    lastTransitionTime: object.metadata.creationTimestamp,
  };
  return { ...status, conditions: [gated] };
}
