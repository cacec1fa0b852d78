import type { WireObject } from '../served-kind.ts';
import { type Behaviour, specDefaults } from './behaviour.ts';
import { rollingStrategy } from './deployment.ts';
import { edit, fill, isSame, objectAt, textAt } from './fields.ts';
import { selectorOfTemplate } from './label-selector.ts';
import { withTemplate } from './pod-defaults.ts';
import { validateTemplate } from './pod-validation.ts';
import { countsOf, sameSelector, templateOf } from './workload-validation.ts';

export const daemonSet: Behaviour = {
  generation: true,
  defaults: specDefaults((spec) =>
    edit(fill(withTemplate(spec), { revisionHistoryLimit: 10, updateStrategy: {} }), 'updateStrategy', (strategy) =>
      rollingStrategy(strategy, { maxSurge: 0, maxUnavailable: 1 }),
    ),
  ),
  prepare: (object) => ({
    ...withGeneration(object, 1),
    status: { currentNumberScheduled: 0, desiredNumberScheduled: 0, numberMisscheduled: 0, numberReady: 0 },
  }),
  *validate(object, old) {
    const spec = objectAt(object, 'spec');
    yield* selectorOfTemplate('daemonset', spec);
    yield* validateTemplate('spec.template', templateOf(object), ['Always']);
    yield* countsOf(spec, 'minReadySeconds', 'revisionHistoryLimit');
    yield* sameSelector(object, old);
  },
};

/** How many templates a set has had, counted by the server whatever is sent. Its pods carry it as a label. */
const GENERATION = 'deprecated.daemonset.template.generation';

export function countTemplates(object: WireObject, old: WireObject): WireObject {
  const before = Number(textAt(old, 'metadata', 'annotations', GENERATION));
  return withGeneration(object, isSame(templateOf(object), templateOf(old)) ? before : before + 1);
}

const withGeneration = (object: WireObject, generation: number): WireObject => ({
  ...object,
  metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, [GENERATION]: String(generation) } },
});
