import { parseQuantity } from './builtin/index.ts';
import { asText, asWire, valueAt, withValueAt } from './object-text.ts';
import type { WireObject } from './served-kind.ts';
import { forbidden } from './status.ts';
import type { ObjectStore } from './watch/index.ts';

const CLAIMS = { group: '', plural: 'persistentvolumeclaims', kind: 'PersistentVolumeClaim' };
const CLASS = 'volume.beta.kubernetes.io/storage-class';
const IS_DEFAULT = ['storageclass.kubernetes.io/is-default-class', 'storageclass.beta.kubernetes.io/is-default-class'];

/** A claim that says nothing of its class gets the one that is for all such: the newest, if there are several. */
export function admittedClaim(claim: WireObject, store: ObjectStore): WireObject {
  if (classOf(claim) !== undefined) return claim;
  const classes = [...store.cache('storageclasses.storage.k8s.io').entries('')].map(({ object }) => object);
  const marked = classes.filter(({ metadata }) => IS_DEFAULT.some((name) => metadata.annotations?.[name] === 'true'));
  // Entries are in the order of their names, which is also that of equals.
  const [newest] = marked.toSorted(
    (a, b) => Date.parse(b.metadata.creationTimestamp) - Date.parse(a.metadata.creationTimestamp),
  );
  return newest === undefined ? claim : asWire(withValueAt(claim, ['spec', 'storageClassName'], newest.metadata.name));
}

/** Only what is bound can grow, and only if its class says so. */
export function checkGrowth(claim: WireObject, old: WireObject, store: ObjectStore): void {
  if (requestIn(claim) <= requestIn(old)) return;
  const { name } = claim.metadata;
  if (valueAt(old, ['status', 'phase']) !== 'Bound') {
    throw forbidden(CLAIMS, name, 'Only bound persistent volume claims can be expanded');
  }
  const storageClass = store.cache('storageclasses.storage.k8s.io').get(asText(classOf(claim)))?.object;
  if (storageClass?.['allowVolumeExpansion'] === true && classOf(claim) === classOf(old)) return;
  const rule =
    'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize';
  throw forbidden(CLAIMS, name, rule);
}

const classOf = (claim: WireObject) =>
  claim.metadata.annotations?.[CLASS] ?? valueAt(claim, ['spec', 'storageClassName']);

const requestIn = (claim: WireObject) =>
  parseQuantity(valueAt(claim, ['spec', 'resources', 'requests', 'storage']))?.nanos ?? 0n;
