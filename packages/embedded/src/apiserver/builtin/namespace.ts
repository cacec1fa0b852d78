import type { WireObject } from '../served-kind.ts';
import type { Behaviour } from './behaviour.ts';
import { labelName } from './names.ts';

const NAME_LABEL = 'kubernetes.io/metadata.name';

export const namespace: Behaviour = {
  name: labelName,
  // So that a selector can name a namespace; whoever removes the label gets it back.
  defaults: (object: WireObject) => ({
    ...object,
    metadata: { ...object.metadata, labels: { ...object.metadata.labels, [NAME_LABEL]: object.metadata.name } },
  }),
  // The finalizer holds the namespace until everything in it is gone; only `/finalize` takes it away.
  prepare: (object) => ({ ...object, spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } }),
};
