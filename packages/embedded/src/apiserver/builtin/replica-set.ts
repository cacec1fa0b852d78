import { type Behaviour, firstStatus, specDefaults } from './behaviour.ts';
import { replicaScale } from './deployment.ts';
import { required } from './field-errors.ts';
import { fill, objectAt, textsOf } from './fields.ts';
import { selectorOfTemplate } from './label-selector.ts';
import { withTemplate } from './pod-defaults.ts';
import { validateTemplate } from './pod-validation.ts';
import { countsOf, sameSelector, templateOf } from './workload-validation.ts';

export const replicaSet: Behaviour = {
  generation: true,
  scale: replicaScale,
  defaults: specDefaults((spec) => fill(withTemplate(spec), { replicas: 1 })),
  prepare: firstStatus({ replicas: 0 }),
  *validate(object, old) {
    const spec = objectAt(object, 'spec');
    yield* countsOf(spec, 'replicas', 'minReadySeconds');
    yield* selectorOfTemplate('replicaset', spec);
    yield* validateTemplate('spec.template', templateOf(object), ['Always']);
    yield* sameSelector(object, old);
  },
};

/** The ReplicaSet's forerunner: its selector is a plain map of labels, and comes from the template. */
export const replicationController: Behaviour = {
  generation: true,
  scale: replicaScale,
  defaults: (object) => {
    const labels = objectAt(object, 'spec', 'template', 'metadata', 'labels');
    const selector = Object.keys(labels).length === 0 ? {} : { selector: labels };
    return {
      ...object,
      metadata: { ...object.metadata, ...(!object.metadata.labels && { labels: textsOf(labels) }) },
      spec: fill(withTemplate(objectAt(object, 'spec')), { replicas: 1, ...selector }),
    };
  },
  prepare: firstStatus({ replicas: 0 }),
  *validate(object) {
    const spec = objectAt(object, 'spec');
    yield* countsOf(spec, 'replicas', 'minReadySeconds');
    if (Object.keys(objectAt(spec, 'selector')).length === 0) yield required('spec.selector');
    yield* validateTemplate('spec.template', templateOf(object), ['Always']);
  },
};
