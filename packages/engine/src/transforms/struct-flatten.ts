import { entriesOf, isObject, type JsonObject, ObjectBuilder } from '../json/index.ts';
import { overObjects } from './document.ts';
import { ConfigError, type Transform, TransformError } from './transform.ts';

export interface StructFlattenConfig {
  /** Default: `.` */
  readonly delimiter?: string;
}

const MAX_LEVELS = 64;

/** Objects in objects become one, their keys joined. Arrays stay values; an empty object leaves nothing. */
export function structFlatten({ delimiter = '.' }: StructFlattenConfig = {}): Transform {
  if (delimiter === '') throw new ConfigError('delimiter', 'must not be empty');
  const collect = (object: JsonObject, prefix: string, level: number, into: ObjectBuilder): boolean => {
    if (level > MAX_LEVELS) throw new TransformError(`objects are nested deeper than ${MAX_LEVELS} levels`);
    let isNested = false;
    for (const [key, value] of entriesOf(object)) {
      if (isObject(value)) {
        isNested = true;
        collect(value, `${prefix}${key}${delimiter}`, level + 1, into);
      } else {
        into.set(prefix + key, value);
      }
    }
    return isNested;
  };
  return overObjects((document) => {
    const flat = new ObjectBuilder();
    return collect(document, '', 1, flat) ? flat.build() : document;
  });
}
