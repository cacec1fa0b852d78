import { type Controller, controller, type World, watch } from '@polder/kube';
import { QdrantCollection, QdrantCollectionTemplate } from '../kinds/index.ts';
import { TEMPLATE_LABEL } from './names.ts';
import { type Observed, observeTemplate } from './observe.ts';
import { planTemplate } from './plan.ts';

/** Tells for each QdrantCollectionTemplate how often it was used. */
export function templates(): Controller<QdrantCollectionTemplate, Observed, never, World> {
  return controller({
    kind: QdrantCollectionTemplate,
    reportsAs: 'qdrant-operator',
    watches: [
      watch(QdrantCollection, ({ metadata }) => {
        const name = metadata.labels?.[TEMPLATE_LABEL];
        return name === undefined ? [] : [{ name }];
      }),
    ],
    observe: observeTemplate,
    plan: planTemplate,
    steps: {},
  });
}
