import type { Column } from '../served-kind.ts';
import * as cluster from './cluster-columns.ts';
import { AGE, CREATED_AT } from './columns.ts';
import * as network from './network-columns.ts';
import { podTable } from './pod-columns.ts';
import * as storage from './storage-columns.ts';
import * as workload from './workload-columns.ts';

const COLUMNS: Readonly<Record<string, readonly Column[]>> = {
  ClusterRoleBinding: cluster.roleBindingTable,
  ConfigMap: cluster.configMapTable,
  ControllerRevision: workload.controllerRevisionTable,
  CronJob: workload.cronJobTable,
  CSIDriver: storage.driverTable,
  CSINode: storage.csiNodeTable,
  DaemonSet: workload.daemonSetTable,
  Deployment: workload.deploymentTable,
  Endpoints: network.endpointsTable,
  EndpointSlice: network.endpointSliceTable,
  Event: cluster.eventTable,
  HorizontalPodAutoscaler: workload.horizontalPodAutoscalerTable,
  Ingress: network.ingressTable,
  IngressClass: network.ingressClassTable,
  Job: workload.jobTable,
  Lease: cluster.leaseTable,
  MutatingWebhookConfiguration: cluster.webhookTable,
  Namespace: cluster.namespaceTable,
  NetworkPolicy: network.networkPolicyTable,
  Node: cluster.nodeTable,
  PersistentVolume: storage.volumeTable,
  PersistentVolumeClaim: storage.claimTable,
  Pod: podTable,
  PodDisruptionBudget: workload.podDisruptionBudgetTable,
  PodTemplate: workload.podTemplateTable,
  PriorityClass: cluster.priorityClassTable,
  ReplicaSet: workload.replicaTable,
  ReplicationController: workload.replicaTable,
  ResourceQuota: cluster.resourceQuotaTable,
  RoleBinding: cluster.roleBindingTable,
  Secret: cluster.secretTable,
  Service: network.serviceTable,
  ServiceAccount: [AGE],
  StatefulSet: workload.statefulSetTable,
  StorageClass: storage.storageClassTable,
  ValidatingAdmissionPolicy: cluster.admissionPolicyTable,
  ValidatingAdmissionPolicyBinding: cluster.admissionPolicyBindingTable,
  ValidatingWebhookConfiguration: cluster.webhookTable,
  VolumeAttachment: storage.attachmentTable,
};

/** The columns of a built-in kind, beside its name. */
export function columnsOf({ kind }: { readonly kind: string }): readonly Column[] {
  return COLUMNS[kind] ?? [CREATED_AT];
}
