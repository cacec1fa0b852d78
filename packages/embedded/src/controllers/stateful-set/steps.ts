import {
  ApiError,
  isAlreadyExists,
  isConflict,
  isNotFound,
  messageOf,
  PersistentVolumeClaim,
  Pod,
  type StatefulSetStatus,
  type Steps,
  type World,
} from '@polder/kube';
import { explanationOf, isNamespaceGoing } from '../refusals.ts';
import type { Claims, MemberStep } from './plan/index.ts';

/** Something could not be done about a member. What was seen of the others is reported all the same. */
export class StepFailed extends Error {
  override readonly name = 'StepFailed';
  readonly status: StatefulSetStatus;

  constructor(status: StatefulSetStatus, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

class ClaimsMissing extends Error {}

export const memberSteps: Steps<MemberStep, World> = {
  'create-pod': (step, world) =>
    attempt('Create', step.name, step, world, async () => {
      await createClaims(step.claims, step.name, step, world);
      await world.cluster.create(Pod, step.pod);
    }),
  'create-claims': async (step, world) => {
    await createClaims(step.claims, step.name, step, world).catch((error: unknown) => fail(error, step));
  },
  'own-claim': async (step, { cluster }) => {
    const { uid } = step.claim.metadata;
    const body = { metadata: { uid, ownerReferences: step.owners } };
    const patched = cluster.patch(PersistentVolumeClaim, step.claim.metadata, { type: 'merge', body });
    await patched.catch((error: unknown) => fail(error, step));
  },
  'update-pod': (step, world) =>
    attempt('Update', step.pod.metadata.name, step, world, async () => {
      await world.cluster.patch(Pod, step.pod.metadata, { type: 'merge', body: step.patch });
    }),
  'delete-pod': (step, world) =>
    attempt('Delete', step.pod.metadata.name, step, world, async () => {
      await world.cluster.delete(Pod, step.pod).catch((error: unknown) => {
        // A conflict means that the name belongs to a successor already.
        if (!isNotFound(error) && !isConflict(error)) throw error;
      });
    }),
};

const POD = { apiVersion: 'v1', kind: 'Pod' } as const;
const CLAIM = { apiVersion: 'v1', kind: 'PersistentVolumeClaim' } as const;

async function attempt(
  action: 'Create' | 'Update' | 'Delete',
  pod: string,
  step: MemberStep,
  { tell }: World,
  act: () => Promise<void>,
): Promise<void> {
  const what = `${action} Pod ${pod} in StatefulSet ${step.set}`;
  // By name alone: what happens to a member again and again is one event, whichever pod has its place.
  const related = { ...POD, metadata: { name: pod } };
  try {
    await act();
  } catch (error) {
    const note = `${what} failed error: ${explanationOf(error)}`;
    const isTold = !isAlreadyExists(error) && !isNamespaceGoing(error);
    if (isTold) tell({ type: 'Warning', reason: `Failed${action}`, action, note, related });
    fail(error, step);
  }
  tell({ type: 'Normal', reason: `Successful${action}`, action, note: `${what} successful`, related });
}

/** All that can be created are, even if the pod has to wait for others. */
async function createClaims(
  { missing, leaving }: Claims,
  pod: string,
  { set }: MemberStep,
  { cluster, tell }: World,
): Promise<void> {
  const problems = leaving.map((name) => `pvc ${name} is being deleted`);
  for (const claim of missing) {
    const { name = '' } = claim.metadata;
    const about = { action: 'Create', related: { ...CLAIM, metadata: { name } } };
    try {
      await cluster.create(PersistentVolumeClaim, claim);
      const note = `Create Claim ${name} Pod ${pod} in StatefulSet ${set} success`;
      tell({ type: 'Normal', reason: 'SuccessfulCreate', note, ...about });
    } catch (error) {
      const because = explanationOf(error);
      problems.push(`failed to create PVC ${name}: ${because}`);
      const note = `Create Claim ${name} for Pod ${pod} in StatefulSet ${set} failed error: ${because}`;
      if (!isAlreadyExists(error)) tell({ type: 'Warning', reason: 'FailedCreate', note, ...about });
    }
  }
  if (problems.length > 0) throw new ClaimsMissing(problems.join(', '));
}

function fail(error: unknown, { status }: MemberStep): never {
  const isRefusal = error instanceof ApiError || error instanceof ClaimsMissing;
  throw isRefusal ? new StepFailed(status, messageOf(error), { cause: error }) : error;
}
