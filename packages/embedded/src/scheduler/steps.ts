import { PersistentVolume, PersistentVolumeClaim, Pod, type Steps, type World } from '@polder/kube';
import { SELECTED_NODE } from '../controllers/persistent-volume/index.ts';
import { type SchedulerStep, UNSCHEDULABLE } from './plan.ts';

export const schedulerSteps: Steps<SchedulerStep, World> = {
  'bind-pod': async ({ pod, node }, { cluster, tell }) => {
    const { name, namespace } = pod.metadata;
    const target = { apiVersion: 'v1', kind: 'Node', name: node };
    await cluster.createBelow(Pod, pod, { subresource: 'binding', apiVersion: 'v1', kind: 'Binding', target });
    const note = `Successfully assigned ${namespace}/${name} to ${node}`;
    tell({ type: 'Normal', reason: 'Scheduled', action: 'Binding', note });
  },

  'report-waiting': async ({ pod, condition }, { cluster, tell }) => {
    await cluster.applyStatus(Pod, pod, { conditions: [condition] });
    if (condition.reason !== UNSCHEDULABLE) return;
    const note = condition.message ?? '';
    tell({ type: 'Warning', reason: 'FailedScheduling', action: 'Scheduling', note });
  },

  'reserve-volume': async ({ claim, volume }, { cluster }) => {
    const { name, namespace, uid } = claim.metadata;
    const claimRef = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', name, namespace, uid };
    // With the version that was looked at: another claim may have got it meanwhile.
    const { resourceVersion } = volume.metadata;
    const body = { metadata: { resourceVersion }, spec: { claimRef } };
    await cluster.patch(PersistentVolume, volume.metadata, { type: 'merge', body });
  },

  'select-node': async ({ claim, node }, { cluster }) => {
    const { resourceVersion } = claim.metadata;
    const body = { metadata: { resourceVersion, annotations: { [SELECTED_NODE]: node } } };
    await cluster.patch(PersistentVolumeClaim, claim.metadata, { type: 'merge', body });
  },
};
