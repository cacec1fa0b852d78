import { definitions } from '../openapi/definitions.ts';
import { Schema } from '../schema/schema.ts';
import type { ServedKind, WireObject } from '../served-kind.ts';
import { columnsOf } from '../tables/builtin-columns.ts';
import * as admission from './admission.ts';
import type { Behaviour } from './behaviour.ts';
import { configMap } from './config-map.ts';
import { controllerRevision } from './controller-revision.ts';
import { cronJob } from './cron-job.ts';
import { customResourceDefinition } from './custom-resource-definition.ts';
import { daemonSet } from './daemon-set.ts';
import { deployment } from './deployment.ts';
import { event, eventsEvent } from './event.ts';
import { FACTS } from './facts.gen.ts';
import type { KindFacts } from './facts.ts';
import { horizontalPodAutoscaler } from './horizontal-pod-autoscaler.ts';
import { job } from './job.ts';
import { lease } from './lease.ts';
import { validateMetadata } from './metadata.ts';
import { namespace } from './namespace.ts';
import * as networking from './networking.ts';
import { node } from './node.ts';
import { pod, podTemplateKind } from './pod.ts';
import { podDisruptionBudget } from './pod-disruption-budget.ts';
import * as policies from './policies.ts';
import * as rbac from './rbac.ts';
import { replicaSet, replicationController } from './replica-set.ts';
import { secret } from './secret.ts';
import { service } from './service.ts';
import { statefulSet } from './stateful-set.ts';
import * as storage from './storage.ts';

/** A kind that the server knows from the start. */
export interface BuiltinKind extends ServedKind {
  readonly origin: 'builtin';
  /** Whether a change of the desired state raises `metadata.generation`; it starts at 1 then, and is absent otherwise. */
  readonly generation: boolean;
  /** What is set once, on create and after the defaults, whatever was sent: first status, finalizers, selectors. */
  readonly prepare?: (object: WireObject) => WireObject;
  /** What an update cannot change and nobody complains about: taken from the stored object. */
  readonly keep?: (object: WireObject, old: WireObject) => WireObject;
}

const BEHAVIOURS: Readonly<Record<string, Behaviour>> = {
  'v1/ConfigMap': configMap,
  'v1/Endpoints': networking.endpoints,
  'v1/Event': event,
  'v1/LimitRange': policies.limitRange,
  'v1/Namespace': namespace,
  'v1/Node': node,
  'v1/PersistentVolume': storage.persistentVolume,
  'v1/PersistentVolumeClaim': storage.persistentVolumeClaim,
  'v1/Pod': pod,
  'v1/PodTemplate': podTemplateKind,
  'v1/ReplicationController': replicationController,
  'v1/ResourceQuota': policies.resourceQuota,
  'v1/Secret': secret,
  'v1/Service': service,
  'admissionregistration.k8s.io/v1/MutatingWebhookConfiguration': admission.mutatingWebhookConfiguration,
  'admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy': admission.validatingAdmissionPolicy,
  'admissionregistration.k8s.io/v1/ValidatingAdmissionPolicyBinding': admission.validatingAdmissionPolicyBinding,
  'admissionregistration.k8s.io/v1/ValidatingWebhookConfiguration': admission.validatingWebhookConfiguration,
  'apiextensions.k8s.io/v1/CustomResourceDefinition': customResourceDefinition,
  'apps/v1/ControllerRevision': controllerRevision,
  'apps/v1/DaemonSet': daemonSet,
  'apps/v1/Deployment': deployment,
  'apps/v1/ReplicaSet': replicaSet,
  'apps/v1/StatefulSet': statefulSet,
  'autoscaling/v2/HorizontalPodAutoscaler': horizontalPodAutoscaler,
  'batch/v1/CronJob': cronJob,
  'batch/v1/Job': job,
  'coordination.k8s.io/v1/Lease': lease,
  'discovery.k8s.io/v1/EndpointSlice': networking.endpointSlice,
  'events.k8s.io/v1/Event': eventsEvent,
  'networking.k8s.io/v1/Ingress': networking.ingress,
  'networking.k8s.io/v1/IngressClass': networking.ingressClass,
  'networking.k8s.io/v1/NetworkPolicy': networking.networkPolicy,
  'policy/v1/PodDisruptionBudget': podDisruptionBudget,
  'rbac.authorization.k8s.io/v1/ClusterRole': rbac.clusterRole,
  'rbac.authorization.k8s.io/v1/ClusterRoleBinding': rbac.clusterRoleBinding,
  'rbac.authorization.k8s.io/v1/Role': rbac.role,
  'rbac.authorization.k8s.io/v1/RoleBinding': rbac.roleBinding,
  'scheduling.k8s.io/v1/PriorityClass': policies.priorityClass,
  'storage.k8s.io/v1/CSIDriver': storage.csiDriver,
  'storage.k8s.io/v1/StorageClass': storage.storageClass,
  'storage.k8s.io/v1/VolumeAttachment': storage.volumeAttachment,
};

/** All built-in kinds, in the order in which discovery announces their groups. */
export const BUILTIN_KINDS: readonly BuiltinKind[] = FACTS.map(builtinKind);

function builtinKind(facts: KindFacts): BuiltinKind {
  const apiVersion = facts.group === '' ? facts.version : `${facts.group}/${facts.version}`;
  const behaviour = BEHAVIOURS[`${apiVersion}/${facts.kind}`] ?? {};
  const { group, version, kind, plural, singular, shortNames, categories, namespaced, verbs } = facts;
  const has = (subresource: string) => facts.subresources.some(({ name }) => name === subresource);
  let schema: Schema | undefined;
  return {
    group,
    version,
    kind,
    listKind: `${kind}List`,
    plural,
    singular,
    shortNames,
    categories,
    namespaced,
    verbs,
    origin: 'builtin',
    // Made on first use: the definitions behind it are read from files.
    get schema() {
      schema ??= new Schema(definitions.get(facts.definition) ?? {}, definitions);
      return schema;
    },
    subresources: { status: has('status'), ...(behaviour.scale && { scale: behaviour.scale }) },
    columns: columnsOf(facts),
    generation: behaviour.generation ?? false,
    ...(behaviour.defaults && { defaults: behaviour.defaults }),
    ...(behaviour.prepare && { prepare: behaviour.prepare }),
    validate: (object, old) => [
      ...validateMetadata(object.metadata, behaviour.name),
      ...(behaviour.validate?.(object, old) ?? []),
    ],
  };
}
