/** Transformations that add values or change them. */
import { Type } from 'typebox';
import { mapOf, missing, oneOf } from '../schema.ts';
import { paths } from './fields.ts';

export const timestamp = Type.Object(
  {
    fieldName: Type.String({ format: 'target-path', default: 'created_at', description: 'The field to set.' }),
    format: Type.String({
      default: 'RFC3339',
      description: 'RFC3339, RFC3339Nano, Unix, or a layout of Go such as 2006-01-02 15:04:05.',
    }),
  },
  { description: 'Sets a field to the time, in UTC.' },
);

export const timezone = Type.Object(
  {
    timezone: Type.String({
      format: 'zone-or-offset',
      description: 'The zone to change to: Europe/Berlin, or +02:00.',
    }),
    fields: paths('The fields with times.'),
    sourceTimezone: Type.String({
      format: 'zone-or-offset',
      default: 'UTC',
      description: 'The zone of times that do not name theirs.',
    }),
    format: oneOf(['RFC3339Nano', 'RFC3339', 'UnixMilli'], {
      default: 'RFC3339Nano',
      description: 'How the times are written.',
    }),
  },
  { description: 'Changes times to another zone.' },
);

export const cast = Type.Object(
  {
    // A null of YAML is meant as the word: "deleted_at: null".
    spec: mapOf(oneOf(['string', 'int64', 'float64', 'bool', 'null'], { nullable: true }), {
      propertyNames: { format: 'path' },
      minProperties: 1,
      description: 'Fields and the types of their values: string, int64, float64, bool or null.',
      ...missing('at least one field is required'),
    }),
  },
  { description: 'Changes the types of values.' },
);

export const insertField = Type.Object(
  {
    fields: mapOf(Type.Unsafe<string>({ type: 'string', format: 'inserted-value' }), {
      propertyNames: { format: 'target-path' },
      minProperties: 1,
      description: 'Fields and their values: a text, ${metadata.topic}, ${now}, or json: and any JSON.',
      ...missing('at least one field is required'),
    }),
  },
  { description: 'Sets fields to values.' },
);

export const headersToPayload = Type.Object(
  {
    mappings: Type.Array(Type.String({ format: 'header-mapping' }), {
      minItems: 1,
      description: 'Headers and the fields they go to, each as Header:path.',
      ...missing('at least one mapping is required'),
    }),
  },
  { description: 'Copies headers of the message into fields.' },
);
