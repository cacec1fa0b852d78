import type { ObjectMeta } from '@polder/kube';
import type { DataFlow } from '../kinds/index.ts';

/** On everything that is made for a flow: which one. */
export const NAME_LABEL = 'dataflow.dataflow.io/name';
const OWNED_LABEL = 'dataflow.dataflow.io/owned';

/** By these the pods of a flow are found. They stand in a selector, which can't be changed: never add to them. */
export function selectorOf({ metadata }: DataFlow): Readonly<Record<string, string>> {
  return { app: 'dataflow-processor', [NAME_LABEL]: metadata.name, [OWNED_LABEL]: 'true' };
}

/** What the objects of a flow are called. Users and dashboards know these names. */
export function namesOf({ metadata: { name } }: DataFlow) {
  return {
    processor: `dataflow-${name}`,
    spec: `dataflow-${name}-spec`,
    secrets: `dataflow-${name}-secrets`,
    checkpoint: `df-${name}-checkpoint`,
    access: `df-${name}-processor`,
  };
}

/** What stands in the head of an object of a flow. Its owner is put in when it is applied. */
export function identityOf(flow: DataFlow, name: string): ObjectMeta & { readonly namespace: string } {
  return { name, namespace: namespaceOf(flow), labels: selectorOf(flow) };
}

export const namespaceOf = ({ metadata }: DataFlow): string => metadata.namespace ?? 'default';
