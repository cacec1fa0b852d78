import { ControllerRevision, controller, PersistentVolumeClaim, Pod, StatefulSet, watch } from '@polder/kube';
import { structuredLabelSelector } from '../../apiserver/selectors/index.ts';
import { claimSteps } from '../pods/index.ts';
import { revisionSteps } from '../revisions/index.ts';
import { observe } from './observe.ts';
import { planStatefulSet } from './plan/index.ts';
import { statusOfFailure } from './status.ts';
import { memberSteps } from './steps.ts';

export const statefulSets = controller({
  kind: StatefulSet,
  reportsAs: 'statefulset-controller',
  owns: [Pod, ControllerRevision],
  watches: [
    // A pod that nobody controls concerns everyone whose selector matches it.
    watch(Pod, ({ metadata }, cached) => {
      if (metadata.ownerReferences?.some((owner) => owner.controller)) return [];
      return cached.list(StatefulSet, metadata.namespace).filter(selects(metadata.labels)).map(refTo);
    }),
    // A claim has the labels of its set's selector; whether it has an owner depends on the retention policy.
    watch(PersistentVolumeClaim, ({ metadata }, cached) => {
      return cached.list(StatefulSet, metadata.namespace).filter(selects(metadata.labels)).map(refTo);
    }),
  ],
  observe,
  plan: planStatefulSet,
  steps: { ...claimSteps, ...revisionSteps, ...memberSteps },
  status: 'as-planned',
  failed: statusOfFailure,
  seesDeleted: true,
});

const selects =
  (labels: Readonly<Record<string, string>> = {}) =>
  ({ spec }: StatefulSet) =>
    structuredLabelSelector(spec?.selector ?? {})(labels);

const refTo = ({ metadata }: StatefulSet) => metadata;
