import type { SchemaElement } from 'hyparquet';
import { decimalLength } from './binary.ts';
import { type Field, isPrimitive, type PrimitiveType, type Schema } from './types.ts';

/** The schema of a data file: Iceberg's names and ids, in Parquet's types. */
export function parquetSchemaOf({ fields }: Schema): SchemaElement[] {
  return [{ name: 'table', num_children: fields.length }, ...fields.flatMap(elementsOf)];
}

function elementsOf(field: Field): SchemaElement[] {
  const { type } = field;
  const self: SchemaElement = {
    name: field.name,
    field_id: field.id,
    repetition_type: field.isRequired ? 'REQUIRED' : 'OPTIONAL',
  };
  if (isPrimitive(type)) return [{ ...self, ...leafOf(type) }];
  switch (type.kind) {
    case 'struct':
      return [{ ...self, num_children: type.fields.length }, ...type.fields.flatMap(elementsOf)];
    case 'list':
      return [
        { ...self, num_children: 1, converted_type: 'LIST', logical_type: { type: 'LIST' } },
        { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
        ...elementsOf(type.element),
      ];
    case 'map':
      return [
        { ...self, num_children: 1, converted_type: 'MAP', logical_type: { type: 'MAP' } },
        { name: 'key_value', repetition_type: 'REPEATED', num_children: 2 },
        ...elementsOf(type.key),
        ...elementsOf(type.value),
      ];
  }
}

type Leaf = Omit<SchemaElement, 'name' | 'repetition_type'>;

function leafOf(type: PrimitiveType): Leaf {
  switch (type.kind) {
    case 'boolean':
      return { type: 'BOOLEAN' };
    case 'int':
      return { type: 'INT32' };
    case 'long':
      return { type: 'INT64' };
    case 'float':
      return { type: 'FLOAT' };
    case 'double':
      return { type: 'DOUBLE' };
    case 'date':
      return { type: 'INT32', converted_type: 'DATE', logical_type: { type: 'DATE' } };
    case 'time':
      return { type: 'INT64', logical_type: { type: 'TIME', isAdjustedToUTC: false, unit: 'MICROS' } };
    case 'timestamp':
      return {
        type: 'INT64',
        logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: type.isUtc, unit: 'MICROS' },
        // The older annotation knows moments alone.
        ...(type.isUtc && { converted_type: 'TIMESTAMP_MICROS' }),
      };
    case 'timestamp-ns':
      return { type: 'INT64', logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: type.isUtc, unit: 'NANOS' } };
    case 'string':
      return { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } };
    case 'uuid':
      return { type: 'FIXED_LEN_BYTE_ARRAY', type_length: 16, logical_type: { type: 'UUID' } };
    case 'binary':
      return { type: 'BYTE_ARRAY' };
    case 'fixed':
      return { type: 'FIXED_LEN_BYTE_ARRAY', type_length: type.length };
    case 'decimal': {
      const { precision, scale } = type;
      const decimal: Leaf = {
        converted_type: 'DECIMAL',
        logical_type: { type: 'DECIMAL', precision, scale },
        precision,
        scale,
      };
      if (precision <= 9) return { type: 'INT32', ...decimal };
      if (precision <= 18) return { type: 'INT64', ...decimal };
      return { type: 'FIXED_LEN_BYTE_ARRAY', type_length: decimalLength(precision), ...decimal };
    }
  }
}
