import { Deployment, isAlreadyExists, isConflict, isNotFound, ReplicaSet, type Steps, type World } from '@polder/kube';
import { adopt, release } from '../ownership.ts';
import { explanationOf, isNamespaceGoing } from '../refusals.ts';
import type { DeploymentStep, NewSet } from './plan/draft.ts';
import { REVISION } from './revisions.ts';

/** The server did not let the new set be. */
export class SetRefused extends Error {
  override readonly name = 'SetRefused';
}

export const deploymentSteps: Steps<DeploymentStep, World> = {
  'adopt-replica-set': ({ set, by }, { cluster }) => adopt(cluster, ReplicaSet, set, by),
  'release-replica-set': ({ set, ownerUid }, { cluster }) => release(cluster, ReplicaSet, set, ownerUid),
  'create-replica-set': async ({ set }, world) => {
    const created = await createSet(set, world);
    const size = set.spec?.replicas ?? 0;
    if (size > 0) tellScaled(world, created, 0, size);
  },
  'annotate-replica-set': async ({ set }, { cluster }) => {
    await cluster.patch(ReplicaSet, set.metadata, changesOf(set));
  },
  'scale-replica-set': async ({ set, from, to }, world) => {
    await world.cluster.patch(ReplicaSet, set.metadata, changesOf(set));
    tellScaled(world, set, from, to);
  },
  'delete-replica-set': async ({ set }, { cluster }) => {
    // A conflict means that the name belongs to another set by now.
    const isGone = (error: unknown) => isNotFound(error) || isConflict(error);
    await cluster.delete(ReplicaSet, set).catch((error: unknown) => {
      if (!isGone(error)) throw error;
    });
  },
  'record-revision': async ({ deployment, revision }, { cluster }) => {
    const { uid } = deployment.metadata;
    const body = { metadata: { uid, annotations: { [REVISION]: revision } } };
    await cluster.patch(Deployment, deployment.metadata, { type: 'merge', body });
  },
  'end-rollback': async ({ deployment, reason, because }, { cluster, tell }) => {
    await cluster.update(Deployment, deployment);
    const type = reason === 'DeploymentRollback' ? 'Normal' : 'Warning';
    tell({ type, reason, action: 'Rollback', note: because });
  },
};

async function createSet(set: NewSet, { cluster, tell }: World): Promise<ReplicaSet> {
  try {
    return await cluster.create(ReplicaSet, set);
  } catch (error) {
    // There already: the cache was behind, and the next pass knows whose it is.
    if (isAlreadyExists(error) || isNamespaceGoing(error)) throw error;
    const note = `Failed to create new replica set "${set.metadata.name}": ${explanationOf(error)}`;
    tell({ type: 'Warning', reason: 'ReplicaSetCreateError', action: 'Create', note });
    throw new SetRefused(note, { cause: error });
  }
}

/** What a deployment decides about a set. The uid keeps a successor of the same name from getting it. */
const changesOf = ({ metadata: { uid, annotations }, spec }: ReplicaSet) => ({
  type: 'merge' as const,
  body: {
    metadata: { uid, annotations },
    spec: { replicas: spec?.replicas, minReadySeconds: spec?.minReadySeconds },
  },
});

function tellScaled({ tell }: World, set: ReplicaSet, from: number, to: number): void {
  const direction = from < to ? 'up' : 'down';
  const note = `Scaled ${direction} replica set ${set.metadata.name} from ${from} to ${to}`;
  // The numbers are part of the action: without them all steps of a rollout would be repetitions of the first.
  tell({ type: 'Normal', reason: 'ScalingReplicaSet', action: `ScaleFrom${from}To${to}`, note, related: set });
}
