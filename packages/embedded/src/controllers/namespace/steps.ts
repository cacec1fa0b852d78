import { apiVersionOf, type Client, isConflict, isNotFound, Namespace, type Steps, type World } from '@polder/kube';
import { explanationOf } from '../refusals.ts';
import type { NamespaceContents } from './contents.ts';
import { FINALIZER, type NamespaceStep } from './plan.ts';

/** The server did not let everything go. */
export class ContentDeletionFailed extends Error {
  readonly failures: readonly string[];

  constructor(failures: readonly string[]) {
    super(failures.join(', '));
    this.failures = failures;
  }
}

/** What its steps need beyond a pass's world. */
export interface NamespaceTools {
  readonly contents: NamespaceContents;
  readonly client: Client;
}

export const namespaceSteps = ({ contents, client }: NamespaceTools): Steps<NamespaceStep, World> => ({
  /** One that cannot be deleted keeps no other. */
  'delete-contents': async ({ namespace, resources }, { cluster, signal }) => {
    const failures = new Set<string>();
    const all = contents.of(namespace).filter(({ resource }) => resources.includes(resource));
    for (const { kind, metadata } of all.flatMap(({ objects }) => objects)) {
      if (metadata.deletionTimestamp !== undefined) continue;
      const object = { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata };
      try {
        await cluster.delete(kind, object, { propagationPolicy: 'Background' });
      } catch (error) {
        signal.throwIfAborted();
        if (!isNotFound(error) && !isConflict(error)) failures.add(explanationOf(error));
      }
    }
    if (failures.size > 0) throw new ContentDeletionFailed([...failures]);
  },

  /** The namespace goes with its last finalizer, unless somebody else has one on it. */
  finalize: async ({ namespace: name }, { signal }) => {
    try {
      const live = await client.get(Namespace, { name }, { signal });
      const finalizers = live.spec?.finalizers?.filter((one) => one !== FINALIZER) ?? [];
      await client.update(Namespace, { ...live, spec: { finalizers } }, { subresource: 'finalize', signal });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  },
});
