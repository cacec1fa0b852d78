import type { Behaviour } from './behaviour.ts';
import { invalid, notNegative } from './field-errors.ts';
import { numberAt, objectAt } from './fields.ts';
import { checkMicroTimes } from './micro-time.ts';

export const lease: Behaviour = {
  defaults: (object) => {
    checkMicroTimes(object, ['spec', 'acquireTime'], ['spec', 'renewTime']);
    return { ...object, spec: objectAt(object, 'spec') };
  },
  *validate(object) {
    const duration = numberAt(object, 'spec', 'leaseDurationSeconds');
    if (duration !== undefined && duration <= 0) {
      yield invalid('spec.leaseDurationSeconds', duration, 'must be greater than 0');
    }
    yield* notNegative('spec.leaseTransitions', numberAt(object, 'spec', 'leaseTransitions'));
  },
};
