import { isDeepStrictEqual } from 'node:util';
import { ControllerRevision, isAlreadyExists, isNotFound, type NewObject, type Steps, type World } from '@polder/kube';
import { adopt, type Claimant } from '../ownership.ts';

export type RevisionStep =
  | {
      readonly do: 'adopt-revision';
      readonly because: string;
      readonly revision: ControllerRevision;
      readonly by: Claimant;
    }
  | {
      readonly do: 'create-revision';
      readonly because: string;
      readonly revision: NewObject<ControllerRevision> & { readonly metadata: { readonly name: string } };
    }
  | {
      readonly do: 'renumber-revision';
      readonly because: string;
      readonly revision: ControllerRevision;
      readonly number: number;
    }
  | { readonly do: 'delete-revision'; readonly because: string; readonly revision: ControllerRevision };

/** Another template has this name already: the next one needs another hash. */
export class NameTaken extends Error {
  override readonly name = 'NameTaken';
}

export const revisionSteps: Steps<RevisionStep, World> = {
  'adopt-revision': ({ revision, by }, { cluster }) => adopt(cluster, ControllerRevision, revision, by),
  'create-revision': async ({ revision }, { cluster }) => {
    try {
      await cluster.create(ControllerRevision, revision);
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      const there = await cluster.getLive(ControllerRevision, revision.metadata);
      if (isDeepStrictEqual(there.data, revision.data)) return;
      throw new NameTaken(`revision ${revision.metadata.name} is another template's`, { cause: error });
    }
  },
  'renumber-revision': async ({ revision, number }, { cluster }) => {
    const body = { metadata: { uid: revision.metadata.uid }, revision: number };
    await cluster.patch(ControllerRevision, revision.metadata, { type: 'merge', body });
  },
  'delete-revision': async ({ revision }, { cluster }) => {
    await cluster.delete(ControllerRevision, revision).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  },
};
