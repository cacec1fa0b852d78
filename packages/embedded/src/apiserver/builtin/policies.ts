/** Kinds that set bounds for others: quotas, ranges, priorities. */
import type { JsonObject } from '../schema/schema.ts';
import { type Behaviour, specDefaults } from './behaviour.ts';
import { forbidden } from './field-errors.ts';
import { edit, editEach, fill, numberAt, objectAt, textAt } from './fields.ts';
import { amounts } from './pod-defaults.ts';

export const resourceQuota: Behaviour = {
  defaults: specDefaults((spec) => edit(spec, 'hard', amounts)),
  prepare: (object) => ({ ...object, status: {} }),
};

export const limitRange: Behaviour = {
  defaults: specDefaults((spec) => editEach(spec, 'limits', limit)),
};

/** For containers, the largest allowed amount is the limit of those that name none, and that limit is their request. */
function limit(item: JsonObject): JsonObject {
  const spelled = ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio'].reduce(
    (changed, name) => edit(changed, name, amounts),
    item,
  );
  if (textAt(item, 'type') !== 'Container') return spelled;
  const limits = fill(objectAt(spelled, 'default'), objectAt(spelled, 'max'));
  const requests = fill(fill(objectAt(spelled, 'defaultRequest'), limits), objectAt(spelled, 'min'));
  return {
    ...spelled,
    ...(Object.keys(limits).length > 0 && { default: limits }),
    ...(Object.keys(requests).length > 0 && { defaultRequest: requests }),
  };
}

export const priorityClass: Behaviour = {
  generation: true,
  defaults: (object) => ({
    ...object,
    value: numberAt(object, 'value') ?? 0,
    preemptionPolicy: textAt(object, 'preemptionPolicy') || 'PreemptLowerPriority',
  }),
  *validate(object, old) {
    if (!old) return;
    for (const field of ['value', 'preemptionPolicy']) {
      if (object[field] !== old[field]) yield forbidden(field, 'may not be changed in an update.');
    }
  },
};
