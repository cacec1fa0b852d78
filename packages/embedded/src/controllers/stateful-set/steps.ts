import {
  type Act,
  ApiError,
  isAlreadyExists,
  isNotFound,
  messageOf,
  PersistentVolumeClaim,
  Pod,
  type StatefulSetStatus,
  type World,
} from '@polder/kube';
import type { Claims, MemberStep } from './plan/index.ts';

type StepNamed<Name extends MemberStep['do']> = Extract<MemberStep, { do: Name }>;

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

export const memberSteps: { readonly [Name in MemberStep['do']]: Act<StepNamed<Name>, World> } = {
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
      try {
        await world.cluster.delete(Pod, step.pod);
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
    }),
};

async function attempt(
  action: 'Create' | 'Update' | 'Delete',
  pod: string,
  step: MemberStep,
  { tell }: World,
  act: () => Promise<void>,
): Promise<void> {
  const what = `${action} Pod ${pod} in StatefulSet ${step.set}`;
  try {
    await act();
  } catch (error) {
    const note = `${what} failed error: ${explanationOf(error)}`;
    if (!isAlreadyExists(error)) tell({ type: 'Warning', reason: `Failed${action}`, action, note });
    fail(error, step);
  }
  tell({ type: 'Normal', reason: `Successful${action}`, action, note: `${what} successful` });
}

/** All that can be created are, even if the pod has to wait for others. */
async function createClaims(
  { missing, leaving }: Claims,
  pod: string,
  { set }: MemberStep,
  { cluster, tell }: World,
): Promise<void> {
  const problems = leaving.map((name) => `pvc ${name} is being deleted`);
  const action = 'Create';
  for (const claim of missing) {
    const { name = '' } = claim.metadata;
    try {
      await cluster.create(PersistentVolumeClaim, claim);
      const note = `Create Claim ${name} Pod ${pod} in StatefulSet ${set} success`;
      tell({ type: 'Normal', reason: 'SuccessfulCreate', action, note });
    } catch (error) {
      problems.push(`failed to create PVC ${name}: ${explanationOf(error)}`);
      const note = `Create Claim ${name} for Pod ${pod} in StatefulSet ${set} failed error: ${explanationOf(error)}`;
      if (!isAlreadyExists(error)) tell({ type: 'Warning', reason: 'FailedCreate', action, note });
    }
  }
  if (problems.length > 0) throw new ClaimsMissing(problems.join(', '));
}

function fail(error: unknown, { status }: MemberStep): never {
  const isRefusal = error instanceof ApiError || error instanceof ClaimsMissing;
  throw isRefusal ? new StepFailed(status, messageOf(error), { cause: error }) : error;
}

/** Without the audit id: the same refusal is to be the same event. */
const explanationOf = (error: unknown) => (error instanceof ApiError ? error.explanation : messageOf(error));
