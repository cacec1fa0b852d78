import type { CrdNames } from '../schema/crd.ts';
import { isObject } from '../schema/index.ts';
import type { WireObject } from '../served-kind.ts';

/** Whether the server has told that it serves the definition under the names it has now. */
export function isAccepted(object: WireObject): boolean {
  const status = isObject(object['status']) ? object['status'] : {};
  const { conditions, acceptedNames } = status;
  const spec = isObject(object['spec']) ? object['spec'] : {};
  const isEstablished =
    Array.isArray(conditions) &&
    conditions.some((one) => isObject(one) && one['type'] === 'Established' && one['status'] === 'True');
  return isEstablished && JSON.stringify(acceptedNames) === JSON.stringify(spec['names']);
}

/** Two definitions cannot share a name, so names are always accepted here. */
export function withConditions(object: WireObject, names: CrdNames, now: string): WireObject {
  const status = isObject(object['status']) ? object['status'] : {};
  const condition = (type: string, reason: string, message: string) => ({
    type,
    status: 'True',
    lastTransitionTime: now,
    reason,
    message,
  });
  return {
    ...object,
    status: {
      ...status,
      conditions: [
        condition('NamesAccepted', 'NoConflicts', 'no conflicts found'),
        condition('Established', 'InitialNamesAccepted', 'the initial names have been accepted'),
      ],
      acceptedNames: names,
    },
  };
}
