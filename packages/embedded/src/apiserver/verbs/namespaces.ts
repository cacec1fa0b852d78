import type { WireObject } from '../served-kind.ts';
import { forbidden, notFound } from '../status.ts';
import type { Call } from './call.ts';

const NAMESPACES = { group: '', plural: 'namespaces', kind: 'Namespace' };

/** Nothing can be created in a namespace that is not there or that is on its way out. */
export function checkNamespace(call: Call, name: string): void {
  const { namespace, core, served } = call;
  if (namespace === undefined) return;
  const entry = core.store.cache('namespaces').get(namespace);
  if (entry === undefined) throw notFound(NAMESPACES, namespace);
  if (!isTerminating(entry.object)) return;
  throw forbidden(
    served.kind,
    name,
    `unable to create new content in namespace ${namespace} because it is being terminated`,
    [
      {
        reason: 'NamespaceTerminating',
        message: `namespace ${namespace} is being terminated`,
        field: 'metadata.namespace',
      },
    ],
  );
}

const isTerminating = ({ metadata }: WireObject) => metadata.deletionTimestamp !== undefined;
