import type { JsonObject } from '../schema/schema.ts';
import { type Behaviour, firstStatus, specDefaults } from './behaviour.ts';
import { replicaScale, rollingStrategy } from './deployment.ts';
import { type Findings, forbidden, invalid, notNegative, required } from './field-errors.ts';
import { edit, editEach, fill, isSame, numberAt, objectAt, objectsAt, textAt, without } from './fields.ts';
import { selectorOfTemplate } from './label-selector.ts';
import { labelName } from './names.ts';
import { claimSpec, withTemplate } from './pod-defaults.ts';
import { validateTemplate } from './pod-validation.ts';
import { countsOf, templateOf } from './workload-validation.ts';

const UPDATABLE = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
];

export const statefulSet: Behaviour = {
  name: labelName,
  generation: true,
  scale: replicaScale,
  defaults: specDefaults((spec) => {
    const filled = fill(withTemplate(spec), {
      replicas: 1,
      revisionHistoryLimit: 10,
      podManagementPolicy: 'OrderedReady',
      serviceName: '',
      updateStrategy: {},
      persistentVolumeClaimRetentionPolicy: {},
    });
    const retained = edit(filled, 'persistentVolumeClaimRetentionPolicy', (policy) =>
      fill(policy, { whenDeleted: 'Retain', whenScaled: 'Retain' }),
    );
    const rolling = edit(retained, 'updateStrategy', (strategy) =>
      // A feature gate of the real API server that is off: it does not keep the field.
      edit(rollingStrategy(strategy, { partition: 0 }), 'rollingUpdate', (numbers) =>
        without(numbers, 'maxUnavailable'),
      ),
    );
    return editEach(rolling, 'volumeClaimTemplates', (claim) => ({
      ...fill(claim, { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: {}, status: { phase: 'Pending' } }),
      spec: claimSpec(objectAt(claim, 'spec')),
    }));
  }),
  prepare: firstStatus({ availableReplicas: 0, replicas: 0 }),
  *validate(object, old) {
    const spec = objectAt(object, 'spec');
    yield* validatePolicies(spec);
    yield* countsOf(spec, 'replicas', 'minReadySeconds', 'revisionHistoryLimit');
    yield* selectorOfTemplate('statefulset', spec);
    yield* validateTemplate('spec.template', withClaims(spec, templateOf(object)), ['Always']);
    if (old && !isSame(without(spec, ...UPDATABLE), without(objectAt(old, 'spec'), ...UPDATABLE))) {
      const names = UPDATABLE.map((name) => `'${name}'`);
      const list = `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
      yield forbidden('spec', `updates to statefulset spec for fields other than ${list} are forbidden`);
    }
  },
};

/** The template as its pods will have it: each claim template is a volume, in place of one of the same name. */
function withClaims(spec: JsonObject, template: JsonObject): JsonObject {
  const claims = objectsAt(spec, 'volumeClaimTemplates').map((claim) => textAt(claim, 'metadata', 'name'));
  const others = objectsAt(template, 'spec', 'volumes').filter((volume) => !claims.includes(textAt(volume, 'name')));
  const volumes = [...claims.map((name) => ({ name, persistentVolumeClaim: { claimName: name } })), ...others];
  return edit(template, 'spec', (pod) => ({ ...pod, volumes }));
}

function* validatePolicies(spec: JsonObject): Findings {
  const management = textAt(spec, 'podManagementPolicy');
  if (!['OrderedReady', 'Parallel'].includes(management)) {
    yield invalid('spec.podManagementPolicy', management, "must be 'OrderedReady' or 'Parallel'");
  }
  const type = textAt(spec, 'updateStrategy', 'type');
  if (type === '') yield required('spec.updateStrategy');
  else if (type === 'RollingUpdate') {
    const partition = numberAt(spec, 'updateStrategy', 'rollingUpdate', 'partition');
    yield* notNegative('spec.updateStrategy.rollingUpdate.partition', partition);
  } else if (type !== 'OnDelete') {
    // The real server shows its internal structure here, with Go's names.
    yield invalid('spec.updateStrategy', { Type: type, RollingUpdate: null }, "must be 'RollingUpdate' or 'OnDelete'");
  }
}
