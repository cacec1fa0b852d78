import type { FieldError } from '../status.ts';
import { validateDefaults } from './default-values.ts';
import { child, forbidden, invalidValue } from './field-errors.ts';
import type { JsonSchema } from './schema.ts';
import { validateSchemaRules } from './schema-rules.ts';
import { validateStructural } from './structural.ts';

/** With a status subresource the status is validated by `properties.status` alone, so the root may say little else. */
const AT_ROOT_WITH_STATUS =
  'Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations';

const goName = (name: string) =>
  name.replace(/^x-kubernetes-/, 'X-').replaceAll(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());

/** One version's schema: structural, with sound defaults and rules. `path` is of `openAPIV3Schema`. */
export function validateCrdSchema(schema: JsonSchema, path: string, hasStatus: boolean): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (hasStatus && schema.type !== undefined && schema.type !== 'object') {
    const detail =
      'only "object" is allowed as the type at the root of the schema if the status subresource is enabled';
    errors.push(invalidValue(child(path, 'type'), schema.type, detail));
  }
  const allowed = AT_ROOT_WITH_STATUS.split(' ');
  if (hasStatus && Object.keys(schema).some((name) => !allowed.includes(goName(name)))) {
    const detail = `only [${AT_ROOT_WITH_STATUS}] fields are allowed at the root of the schema if the status subresource is enabled`;
    errors.push(invalidValue(path, schema, detail));
  }
  if (schema.nullable) errors.push(forbidden(child(path, 'nullable'), 'nullable cannot be true at the root'));
  const structural = validateStructural(schema, path);
  const defaults = structural.length === 0 ? validateDefaults(schema, path) : [];
  const isSound = structural.length === 0 && defaults.length === 0;
  return [...errors, ...structural, ...defaults, ...validateSchemaRules(schema, path, isSound)];
}
