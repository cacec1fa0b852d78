import type { JsonObject } from '../schema/schema.ts';
import { type Behaviour, firstStatus, specDefaults } from './behaviour.ts';
import { type Findings, forbidden, invalid, notSupported, oneOf, required, unchanged } from './field-errors.ts';
import { edit, fill, isAbsent, isSame, listAt, objectAt, textAt, valueAt } from './fields.ts';
import { amounts, claimSpec } from './pod-defaults.ts';
import { formatQuantity, parseQuantity } from './quantity.ts';

const ACCESS_MODES = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];
const VOLUME_MODES = ['Block', 'Filesystem'];

export const persistentVolumeClaim: Behaviour = {
  defaults: specDefaults(claimSpec),
  prepare: (object) => ({
    ...object,
    metadata: {
      ...object.metadata,
      // A claim in use is not deleted under its pod; the controller takes the finalizer away.
      finalizers: [...new Set([...(object.metadata.finalizers ?? []), 'kubernetes.io/pvc-protection'])],
    },
    status: { phase: 'Pending' },
  }),
  *validate(object, old) {
    const spec = objectAt(object, 'spec');
    yield* validateAccessModes(spec, 'at least 1 access mode is required');
    const storage = parseQuantity(valueAt(spec, 'resources', 'requests', 'storage'));
    if (!storage) yield required('spec.resources[storage]');
    else if (storage.nanos <= 0n) {
      yield invalid('spec.resources[storage]', formatQuantity(storage), 'must be greater than zero');
    }
    yield* oneOf('spec.volumeMode', textAt(spec, 'volumeMode'), VOLUME_MODES);
    if (old) yield* validateClaimUpdate(spec, objectAt(old, 'spec'), textAt(old, 'status', 'phase') === 'Bound');
  },
};

function* validateAccessModes(spec: JsonObject, detail = ''): Findings {
  const modes = listAt(spec, 'accessModes');
  if (modes.length === 0) yield required('spec.accessModes', detail);
  for (const mode of modes) {
    if (typeof mode !== 'string' || !ACCESS_MODES.includes(mode)) {
      yield notSupported('spec.accessModes', mode, ACCESS_MODES);
    }
  }
  if (modes.length > 1 && modes.includes('ReadWriteOncePod')) {
    yield forbidden('spec.accessModes', 'may not use ReadWriteOncePod with other access modes');
  }
}

/** A bound claim may grow and get another attributes class; a volume or a class may be filled in where none is. */
function* validateClaimUpdate(spec: JsonObject, old: JsonObject, isBound: boolean): Findings {
  const [now, before] = [spec, old].map((one) => parseQuantity(valueAt(one, 'resources', 'requests', 'storage')));
  const frozen = (one: JsonObject): JsonObject => ({
    ...one,
    ...(isBound && { resources: null, volumeAttributesClassName: null }),
    ...(textAt(old, 'volumeName') === '' && { volumeName: null }),
    ...(isAbsent(old['storageClassName']) && { storageClassName: null }),
  });
  if (!isSame(frozen(spec), frozen(old))) {
    yield forbidden(
      'spec',
      'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims',
    );
  } else if (now && before && now.nanos < before.nanos) {
    yield forbidden('spec.resources.requests.storage', 'field can not be less than status.capacity');
  }
}

export const persistentVolume: Behaviour = {
  defaults: specDefaults((spec) => {
    const filled = fill(spec, { persistentVolumeReclaimPolicy: 'Retain', volumeMode: 'Filesystem' });
    return edit(edit(filled, 'capacity', amounts), 'hostPath', (path) => fill(path, { type: '' }));
  }),
  prepare: (object) => ({
    ...object,
    metadata: {
      ...object.metadata,
      finalizers: [...new Set([...(object.metadata.finalizers ?? []), 'kubernetes.io/pv-protection'])],
    },
    status: { phase: 'Pending' },
  }),
  *validate(object) {
    const spec = objectAt(object, 'spec');
    yield* validateAccessModes(spec);
    const capacity = objectAt(spec, 'capacity');
    if (Object.keys(capacity).length === 0) yield required('spec.capacity');
    if (!Object.hasOwn(capacity, 'storage') || Object.keys(capacity).length > 1) {
      const shown = Object.keys(capacity).length === 0 ? null : capacity;
      yield notSupported('spec.capacity', shown, ['storage']);
    }
    if (!VOLUME_SOURCES.some((source) => !isAbsent(spec[source]))) yield required('spec', 'must specify a volume type');
  },
};

const VOLUME_SOURCES = [
  'awsElasticBlockStore',
  'azureDisk',
  'azureFile',
  'cephfs',
  'cinder',
  'csi',
  'fc',
  'flexVolume',
  'flocker',
  'gcePersistentDisk',
  'glusterfs',
  'hostPath',
  'iscsi',
  'local',
  'nfs',
  'photonPersistentDisk',
  'portworxVolume',
  'quobyte',
  'rbd',
  'scaleIO',
  'storageos',
  'vsphereVolume',
];

export const storageClass: Behaviour = {
  defaults: (object) => ({
    ...object,
    reclaimPolicy: textAt(object, 'reclaimPolicy') || 'Delete',
    volumeBindingMode: textAt(object, 'volumeBindingMode') || 'Immediate',
  }),
  *validate(object, old) {
    const provisioner = textAt(object, 'provisioner');
    if (provisioner === '') yield required('provisioner');
    yield* oneOf('reclaimPolicy', textAt(object, 'reclaimPolicy'), ['Delete', 'Retain']);
    const modes = ['Immediate', 'WaitForFirstConsumer'];
    yield* oneOf('volumeBindingMode', textAt(object, 'volumeBindingMode'), modes);
    if (!old) return;
    if (!isSame(objectAt(object, 'parameters'), objectAt(old, 'parameters'))) {
      yield forbidden('parameters', 'updates to parameters are forbidden.');
    }
    for (const field of ['provisioner', 'reclaimPolicy', 'volumeBindingMode']) {
      yield* unchanged(field, object[field], object[field] === old[field]);
    }
  },
};

export const volumeAttachment: Behaviour = { prepare: firstStatus({ attached: false }) };

export const csiDriver: Behaviour = {
  defaults: specDefaults((spec) =>
    fill(spec, {
      attachRequired: true,
      fsGroupPolicy: 'ReadWriteOnceWithFSType',
      podInfoOnMount: false,
      requiresRepublish: false,
      seLinuxMount: false,
      storageCapacity: false,
      volumeLifecycleModes: ['Persistent'],
    }),
  ),
};
