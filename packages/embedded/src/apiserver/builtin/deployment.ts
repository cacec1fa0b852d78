import type { JsonObject } from '../schema/schema.ts';
import { type Behaviour, firstStatus, specDefaults } from './behaviour.ts';
import { type Findings, forbidden, invalid, notSupported } from './field-errors.ts';
import { edit, fill, isAbsent, numberAt, objectAt, textAt, valueAt } from './fields.ts';
import { selectorOfTemplate } from './label-selector.ts';
import { withTemplate } from './pod-defaults.ts';
import { validateTemplate } from './pod-validation.ts';
import { countOrPercentage, countsOf, isZero, sameSelector, templateOf } from './workload-validation.ts';

export const replicaScale = {
  specReplicasPath: '.spec.replicas',
  statusReplicasPath: '.status.replicas',
  labelSelectorPath: '.spec.selector',
};

export const deployment: Behaviour = {
  generation: true,
  scale: replicaScale,
  defaults: specDefaults((spec) =>
    edit(
      fill(withTemplate(spec), { replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600, strategy: {} }),
      'strategy',
      (strategy) => rollingStrategy(strategy, { maxSurge: '25%', maxUnavailable: '25%' }),
    ),
  ),
  prepare: firstStatus({}),
  *validate(object, old) {
    const spec = objectAt(object, 'spec');
    yield* countsOf(spec, 'replicas');
    yield* selectorOfTemplate('deployment', spec);
    yield* validateTemplate('spec.template', templateOf(object), ['Always']);
    yield* validateStrategy(objectAt(spec, 'strategy'));
    yield* countsOf(spec, 'minReadySeconds', 'revisionHistoryLimit');
    yield* validateDeadline(spec);
    yield* sameSelector(object, old);
  },
};

/** `type: RollingUpdate` unless said otherwise, and its numbers. */
export function rollingStrategy(strategy: JsonObject, numbers: JsonObject): JsonObject {
  const typed = fill(strategy, { type: 'RollingUpdate' });
  if (typed['type'] !== 'RollingUpdate') return typed;
  return { ...typed, rollingUpdate: fill(objectAt(typed, 'rollingUpdate'), numbers) };
}

function* validateStrategy(strategy: JsonObject): Findings {
  const type = textAt(strategy, 'type');
  const field = 'spec.strategy.rollingUpdate';
  if (type === 'Recreate') {
    if (!isAbsent(strategy['rollingUpdate'])) {
      yield forbidden(field, "may not be specified when strategy `type` is 'Recreate'");
    }
  } else if (type === 'RollingUpdate') {
    const [surge, unavailable] = ['maxSurge', 'maxUnavailable'].map((name) => valueAt(strategy, 'rollingUpdate', name));
    yield* countOrPercentage(`${field}.maxUnavailable`, unavailable, true);
    yield* countOrPercentage(`${field}.maxSurge`, surge, false);
    if (isZero(surge) && isZero(unavailable)) {
      yield invalid(`${field}.maxUnavailable`, unavailable, 'may not be 0 when `maxSurge` is 0');
    }
  } else {
    yield notSupported('spec.strategy.type', type, ['Recreate', 'RollingUpdate']);
  }
}

function* validateDeadline(spec: JsonObject): Findings {
  const deadline = numberAt(spec, 'progressDeadlineSeconds') ?? 0;
  yield* countsOf(spec, 'progressDeadlineSeconds');
  if (deadline > 0 && deadline <= (numberAt(spec, 'minReadySeconds') ?? 0)) {
    yield invalid('spec.progressDeadlineSeconds', deadline, 'must be greater than minReadySeconds');
  }
}
