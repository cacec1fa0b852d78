import type { Behaviour } from './behaviour.ts';
import { invalid, notNegative, required } from './field-errors.ts';
import { isAbsent, isSame, numberAt, valueAt } from './fields.ts';

/** A workload's template at some time; controllers compare with it, so it never changes. */
export const controllerRevision: Behaviour = {
  defaults: (object) => ({ ...object, revision: numberAt(object, 'revision') ?? 0 }),
  *validate(object, old) {
    yield* notNegative('revision', numberAt(object, 'revision'));
    const data = valueAt(object, 'data');
    if (isAbsent(data)) yield required('data', 'data is mandatory');
    if (old && !isSame(data, valueAt(old, 'data'))) yield invalid('data', data, 'field is immutable');
  },
};
