import type { JsonObject } from '../schema/schema.ts';
import type { WireObject } from '../served-kind.ts';
import { type Findings, invalid, notNegative, unchanged } from './field-errors.ts';
import { isSame, numberAt, objectAt, valueAt } from './fields.ts';
import { percentage } from './names.ts';

/** `spec.replicas` and the like. */
export function* countsOf(spec: JsonObject, ...names: readonly string[]): Findings {
  for (const name of names) yield* notNegative(`spec.${name}`, numberAt(spec, name));
}

export function* sameSelector(object: WireObject, old: WireObject | undefined): Findings {
  if (!old) return;
  const [now, before] = [valueAt(object, 'spec', 'selector'), valueAt(old, 'spec', 'selector')];
  yield* unchanged('spec.selector', now, isSame(now, before));
}

/** A number of pods, or a percentage of them. */
export function* countOrPercentage(field: string, value: unknown, atMostAll: boolean): Findings {
  if (typeof value === 'number') yield* notNegative(field, value);
  if (typeof value !== 'string') return;
  const messages = percentage(value);
  for (const message of messages) yield invalid(field, value, message);
  if (messages.length === 0 && atMostAll && Number.parseInt(value, 10) > 100) {
    yield invalid(field, value, 'must not be greater than 100%');
  }
}

export const isZero = (value: unknown) => value === 0 || value === '0%';

export const templateOf = (object: WireObject) => objectAt(object, 'spec', 'template');
