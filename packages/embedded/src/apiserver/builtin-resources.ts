import { apiVersionOf } from '@polder/kube';
import { allocate, type BuiltinKind, countTemplates, toCoreEvent, toEventsEvent } from './builtin/index.ts';
import { admittedClaim } from './claim-admission.ts';
import { admittedPod, withPodAddresses } from './pod-admission.ts';
import { type Conversion, renaming, resourceOf, type ServedResource } from './served-kinds.ts';
import { serviceAddresses, withoutInheritedNodePorts } from './service-addresses.ts';
import type { ObjectStore } from './watch/index.ts';

/** Updates of these need a version. */
const CONDITIONAL = [
  'leases',
  'customresourcedefinitions',
  'mutatingwebhookconfigurations',
  'validatingwebhookconfigurations',
  'validatingadmissionpolicies',
  'validatingadmissionpolicybindings',
  'poddisruptionbudgets',
  'csidrivers',
  'csinodes',
  'volumeattachments',
];

/** An update brings these into being. */
const CREATABLE_BY_UPDATE = [
  'leases',
  'events',
  'endpoints',
  'limitranges',
  'services',
  'roles',
  'rolebindings',
  'clusterroles',
  'clusterrolebindings',
];

/** A deletion of these answers with the object as it was. */
const RETURNING = [
  'pods',
  'services',
  'serviceaccounts',
  'persistentvolumes',
  'persistentvolumeclaims',
  'podtemplates',
  'resourcequotas',
  'storageclasses',
  'csidrivers',
  'csinodes',
  'volumeattachments',
];

/** How a built-in kind is served. */
export function builtinResource(kind: BuiltinKind, store: ObjectStore): ServedResource {
  const allocator = serviceAddresses(store);
  const isEvent = kind.kind === 'Event';
  return {
    kind,
    // Events are served in two groups and stored once.
    resource: isEvent ? 'events' : resourceOf(kind),
    apiVersion: apiVersionOf(kind),
    selectableFields: [],
    hasGeneration: kind.generation,
    allowsUnconditionalUpdate: !CONDITIONAL.includes(kind.plural),
    returnsDeleted: RETURNING.includes(kind.plural),
    allowsCreateOnUpdate: CREATABLE_BY_UPDATE.includes(kind.plural),
    // A kubelet registers its node together with what it has to give.
    keepsFirstStatus: kind.kind === 'Node',
    prepare: (object) => {
      const prepared = kind.prepare?.(object) ?? object;
      if (kind.kind === 'PersistentVolumeClaim') return admittedClaim(prepared, store);
      return kind.kind === 'Pod' ? admittedPod(prepared, store) : prepared;
    },
    complete: (object, old) => {
      if (kind.kind === 'DaemonSet' && old) return countTemplates(object, old);
      if (kind.kind === 'Service') return allocate(withoutInheritedNodePorts(object, old), old, allocator);
      return kind.kind === 'Pod' ? withPodAddresses(object) : object;
    },
    conversion: isEvent ? events : renaming(apiVersionOf(kind)),
  };
}

const events: Conversion = {
  storageVersion: 'v1',
  convert: async (objects, apiVersion) => objects.map(apiVersion === 'v1' ? toCoreEvent : toEventsEvent),
};
