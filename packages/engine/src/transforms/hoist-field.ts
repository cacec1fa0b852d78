import { EMPTY_OBJECT, withMember } from '../json/index.ts';
import { overDocuments } from './document.ts';
import { ConfigError, type Transform } from './transform.ts';

export interface HoistFieldConfig {
  /** A plain key: no path. */
  readonly field: string;
}

/** The payload, whatever JSON it is, becomes the only member of an object. */
export function hoistField({ field }: HoistFieldConfig): Transform {
  if (field === '') throw new ConfigError('field', 'field is required');
  if (field.includes('.')) throw new ConfigError('field', `'${field}' is a path; here a key without dots is needed`);
  return overDocuments((document) => withMember(EMPTY_OBJECT, field, document));
}
