import { isDeepStrictEqual } from 'node:util';
import {
  type Act,
  ControllerRevision,
  isAlreadyExists,
  type NewObject,
  type OwnerReference,
  type World,
} from '@polder/kube';

export type RevisionStep =
  | {
      readonly do: 'adopt-revision';
      readonly because: string;
      readonly revision: ControllerRevision;
      readonly owner: OwnerReference;
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

export const revisionSteps: {
  readonly [Name in RevisionStep['do']]: Act<Extract<RevisionStep, { do: Name }>, World>;
} = {
  'adopt-revision': async ({ revision, owner }, { cluster }) => {
    const { uid, ownerReferences = [] } = revision.metadata;
    const body = { metadata: { uid, ownerReferences: [...ownerReferences, owner] } };
    await cluster.patch(ControllerRevision, revision.metadata, { type: 'merge', body });
  },
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
    await cluster.delete(ControllerRevision, revision);
  },
};
