import {
  ApiError,
  ConfigMap,
  type Controller,
  controller,
  Deployment,
  type ObjectRef,
  Pod,
  PodDisruptionBudget,
  ReplicaSet,
  Role,
  RoleBinding,
  Secret,
  ServiceAccount,
  watch,
} from '@polder/kube';
import { DataFlow } from './kinds/index.ts';
import { NAME_LABEL } from './objects/index.ts';
import { type FlowWorld, type Observed, observeFlow } from './observe.ts';
import { type FlowStep, planFlow } from './plan/index.ts';
import type { Settings } from './settings.ts';
import { flowSteps } from './steps.ts';

/** Runs a processor for each DataFlow. `memory` is what passes keep of the flows that there are. */
export function dataflows(
  settings: Settings,
  memory: Pick<FlowWorld, 'counters' | 'secretUsers'>,
): Controller<DataFlow, Observed, FlowStep, FlowWorld> {
  const { operator } = settings;
  return controller({
    kind: DataFlow,
    reportsAs: 'dataflow-controller',
    owns: [ConfigMap, Secret, ServiceAccount, Role, RoleBinding, PodDisruptionBudget, Deployment],
    watches: [
      // A Secret that is rotated, made or deleted.
      watch(Secret, ({ metadata }) => memory.secretUsers.of(metadata)),
      // Why a processor does not run is told by its pod alone; what may still be made, by ReplicaSets.
      watch(Pod, flowNamedBy),
      watch(ReplicaSet, flowNamedBy),
      // A new image of the operator is a new image of the processors.
      watch(Deployment, ({ metadata: { namespace, name } }, cached) =>
        name === operator?.name && namespace === operator.namespace
          ? cached.list(DataFlow).map(({ metadata }) => metadata)
          : [],
      ),
    ],
    observe: (flow, world) => observeFlow(flow, world, settings),
    plan: (flow, observed, now) => planFlow(flow, observed, now, settings),
    steps: flowSteps,
    // Who finds them with somebody else's finalizer on them ends them all the same.
    seesDeleted: true,
    failed: ({ status }, error) => ({
      ...status,
      ...(isRefused(error) && { phase: 'Error', message: refusal(error) }),
    }),
    forget(ref) {
      memory.secretUsers.forget(ref);
      memory.counters.forget(ref);
    },
  });
}

/** What is made of a template has its labels, and so the name of the flow. */
function flowNamedBy({ metadata: { namespace, labels } }: Pod | ReplicaSet): readonly ObjectRef[] {
  const name = labels?.[NAME_LABEL];
  return name === undefined ? [] : [{ namespace, name }];
}

/** The server will say the same the next time. What passes by itself is no news of the flow. */
const isRefused = (error: unknown): error is ApiError =>
  error instanceof ApiError && [400, 403, 413, 422].includes(error.status);

const refusal = ({ explanation }: ApiError) => `Failed to create what the flow needs: ${explanation}`;
