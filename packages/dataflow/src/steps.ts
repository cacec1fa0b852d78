import {
  ConfigMap,
  Deployment,
  PodDisruptionBudget,
  Role,
  RoleBinding,
  Secret,
  ServiceAccount,
  type Steps,
} from '@polder/kube';
import { DataFlow } from './kinds/index.ts';
import type { FlowWorld } from './observe.ts';
import { type FlowStep, RESET_ANNOTATION } from './plan/index.ts';

export const flowSteps: Steps<FlowStep, FlowWorld> = {
  'remove-secrets': ({ secret }, { cluster }) => cluster.delete(Secret, secret),
  'remove-budget': ({ budget }, { cluster }) => cluster.delete(PodDisruptionBudget, budget),

  async 'remove-access'({ access: { account, role, binding } }, { cluster }) {
    if (binding) await cluster.delete(RoleBinding, binding);
    if (role) await cluster.delete(Role, role);
    if (account) await cluster.delete(ServiceAccount, account);
  },

  async 'reset-checkpoint'({ flow, checkpoint }, world) {
    if (checkpoint?.data) {
      await world.cluster.patch(ConfigMap, checkpoint.metadata, { type: 'merge', body: { data: null } });
    }
    await takeRequestBack(flow, world);
  },
  'ignore-reset': ({ flow }, world) => takeRequestBack(flow, world),

  async 'set-recreate'({ deployment }, { cluster }) {
    const strategy = { type: 'Recreate', rollingUpdate: null };
    await cluster.patch(Deployment, deployment.metadata, { type: 'merge', body: { spec: { strategy } } });
  },

  async 'stop-processor'({ deployment }, { cluster }) {
    await cluster.patch(Deployment, deployment.metadata, { type: 'merge', body: { spec: { replicas: 0 } } });
  },

  async 'remove-processor'({ deployment, spec }, { cluster }) {
    if (deployment) await cluster.delete(Deployment, deployment);
    if (spec) await cluster.delete(ConfigMap, spec);
  },
};

/** Both ways to ask are taken back: neither may ask again after the next start. */
async function takeRequestBack({ metadata }: DataFlow, { cluster }: FlowWorld): Promise<void> {
  const annotations = { [RESET_ANNOTATION]: null };
  await cluster.patch(DataFlow, metadata, {
    type: 'merge',
    body: { metadata: { annotations }, spec: { checkpointReset: null } },
  });
}
