import type { WireObject } from '../served-kind.ts';
import type { Behaviour } from './behaviour.ts';
import { type Findings, forbidden, invalid } from './field-errors.ts';
import { isSame, objectAt, valueAt } from './fields.ts';
import { configKey } from './names.ts';

export const configMap: Behaviour = {
  *validate(object, old) {
    const binary = objectAt(object, 'binaryData');
    yield* validateKeys('data', object);
    for (const key of Object.keys(objectAt(object, 'data'))) {
      if (Object.hasOwn(binary, key)) yield invalid(`data[${key}]`, key, 'duplicate of key present in binaryData');
    }
    yield* validateKeys('binaryData', object);
    if (old) yield* staysImmutable(object, old, ['data', 'binaryData']);
  },
};

/** Keys become files in a volume. */
export function* validateKeys(field: string, object: WireObject): Findings {
  for (const key of Object.keys(objectAt(object, field))) {
    for (const message of configKey(key)) yield invalid(`${field}[${key}]`, key, message);
  }
}

/** Once `immutable` is set it stays, and so does the data. */
export function* staysImmutable(object: WireObject, old: WireObject, fields: readonly string[]): Findings {
  if (old['immutable'] !== true) return;
  const detail = 'field is immutable when `immutable` is set';
  if (object['immutable'] !== true) yield forbidden('immutable', detail);
  for (const field of fields) {
    if (!isSame(valueAt(object, field), valueAt(old, field))) yield forbidden(field, detail);
  }
}
