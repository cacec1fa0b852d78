import { objectAt, objectsAt, shownAt, textAt, textsAt, valueAt } from '../builtin/fields.ts';
import type { Column, WireObject } from '../served-kind.ts';
import { AGE, accessModes, column, textCell, wide } from './columns.ts';

const phase = (object: WireObject) =>
  object.metadata.deletionTimestamp === undefined ? textAt(object, 'status', 'phase') : 'Terminating';

const className = (object: WireObject) =>
  object.metadata.annotations?.['volume.beta.kubernetes.io/storage-class'] ??
  textAt(object, 'spec', 'storageClassName');

const attributesClass = column('VolumeAttributesClass', textCell(['spec', 'volumeAttributesClassName'], '<unset>'));
const volumeMode = wide('VolumeMode', textCell(['spec', 'volumeMode'], '<unset>'));

export const claimTable: readonly Column[] = [
  column('Status', phase),
  column('Volume', textCell(['spec', 'volumeName'])),
  // What was asked for is not what is there: nothing is shown before the claim has a volume.
  column('Capacity', (claim) =>
    textAt(claim, 'spec', 'volumeName') === '' ? '' : shownAt(claim, 'status', 'capacity', 'storage') || '0',
  ),
  column('Access Modes', (claim) =>
    textAt(claim, 'spec', 'volumeName') === '' ? '' : accessModes(claim, 'status', 'accessModes'),
  ),
  column('StorageClass', className),
  attributesClass,
  AGE,
  volumeMode,
];

export const volumeTable: readonly Column[] = [
  column('Capacity', (volume) => shownAt(volume, 'spec', 'capacity', 'storage') || '0'),
  column('Access Modes', (volume) => accessModes(volume, 'spec', 'accessModes')),
  column('Reclaim Policy', textCell(['spec', 'persistentVolumeReclaimPolicy'])),
  column('Status', phase),
  column('Claim', (volume) => {
    const claim = objectAt(volume, 'spec', 'claimRef');
    return textAt(claim, 'name') === '' ? '' : `${textAt(claim, 'namespace')}/${textAt(claim, 'name')}`;
  }),
  column('StorageClass', className),
  attributesClass,
  column('Reason', textCell(['status', 'reason'])),
  AGE,
  volumeMode,
];

export const storageClassTable: readonly Column[] = [
  column('Provisioner', textCell(['provisioner'])),
  column('ReclaimPolicy', textCell(['reclaimPolicy'], 'Delete')),
  column('VolumeBindingMode', textCell(['volumeBindingMode'], 'Immediate')),
  column('AllowVolumeExpansion', (object) => object['allowVolumeExpansion'] === true),
  AGE,
];

export const attachmentTable: readonly Column[] = [
  { ...column('Attacher', textCell(['spec', 'attacher'])), format: 'name' },
  column('PV', textCell(['spec', 'source', 'persistentVolumeName'])),
  column('Node', textCell(['spec', 'nodeName'])),
  column('Attached', (object) => valueAt(object, 'status', 'attached') === true, 'boolean'),
  AGE,
];

const flag = (name: string, field: string) =>
  column(name, (object) => valueAt(object, 'spec', field) === true, 'boolean');

export const driverTable: readonly Column[] = [
  flag('AttachRequired', 'attachRequired'),
  flag('PodInfoOnMount', 'podInfoOnMount'),
  flag('StorageCapacity', 'storageCapacity'),
  column('TokenRequests', (object) => {
    const audiences = objectsAt(object, 'spec', 'tokenRequests').map((request) => textAt(request, 'audience'));
    return audiences.length === 0 ? '<unset>' : audiences.join(',');
  }),
  flag('RequiresRepublish', 'requiresRepublish'),
  column('Modes', (object) => textsAt(object, 'spec', 'volumeLifecycleModes').join(',') || '<none>'),
  AGE,
];

export const csiNodeTable: readonly Column[] = [
  column('Drivers', (object) => objectsAt(object, 'spec', 'drivers').length, 'integer'),
  AGE,
];
