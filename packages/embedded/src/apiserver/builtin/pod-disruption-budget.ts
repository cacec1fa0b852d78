import { type Behaviour, firstStatus, specDefaults } from './behaviour.ts';
import { invalid } from './field-errors.ts';
import { isAbsent, objectAt, valueAt } from './fields.ts';
import { validateSelector } from './label-selector.ts';
import { countOrPercentage } from './workload-validation.ts';

export const podDisruptionBudget: Behaviour = {
  generation: true,
  defaults: specDefaults((spec) => spec),
  prepare: firstStatus({ currentHealthy: 0, desiredHealthy: 0, disruptionsAllowed: 0, expectedPods: 0 }),
  *validate(object) {
    const spec = objectAt(object, 'spec');
    const { minAvailable, maxUnavailable } = spec;
    if (!isAbsent(minAvailable) && !isAbsent(maxUnavailable)) {
      // The real server shows its internal structure here, with Go's names.
      const shown = {
        MinAvailable: minAvailable,
        Selector: valueAt(spec, 'selector') ?? null,
        MaxUnavailable: maxUnavailable,
        UnhealthyPodEvictionPolicy: valueAt(spec, 'unhealthyPodEvictionPolicy') ?? null,
      };
      yield invalid('spec', shown, 'minAvailable and maxUnavailable cannot be both set');
    }
    yield* countOrPercentage('spec.minAvailable', minAvailable, true);
    yield* countOrPercentage('spec.maxUnavailable', maxUnavailable, true);
    yield* validateSelector('spec.selector', objectAt(spec, 'selector'));
  },
};
