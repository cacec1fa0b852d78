import { RuleValidator } from '../cel/index.ts';
import { parseJson, printJson } from '../exact-json.ts';
import type { FieldError } from '../status.ts';
import { validateEmbeddedResources } from './embedded-resources.ts';
import { child, invalidValue, keyed } from './field-errors.ts';
import { prune } from './prune.ts';
import { type JsonSchema, Schema } from './schema.ts';
import { validate } from './validate.ts';

/** A default must be a value that the schema itself accepts, with nothing that pruning would take away. */
export function validateDefaults(node: JsonSchema, path: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (node.default !== undefined && node.default !== null) {
    errors.push(...validateDefault(node, node.default, child(path, 'default')));
  }
  if (node.items !== undefined) errors.push(...validateDefaults(node.items, child(path, 'items')));
  for (const [name, property] of Object.entries(node.properties ?? {})) {
    errors.push(...validateDefaults(property, keyed(child(path, 'properties'), name)));
  }
  return errors;
}

function validateDefault(node: JsonSchema, wanted: unknown, path: string): readonly FieldError[] {
  const schema = new Schema(node);
  const value = parseJson(printJson(wanted));
  const errors =
    prune(schema, value).unknown.length > 0 ? [invalidValue(path, value, 'must not have unknown fields')] : [];
  const embedded = validateEmbeddedResources(schema, value, path);
  if (embedded.length > 0) return [...errors, ...embedded];
  const plain = validate(schema, value, { under: path });
  if (plain.length > 0) return [...errors, ...plain];
  const rules = RuleValidator.of(schema, false);
  const asOld = rules?.validate(value, { path, old: value }).errors ?? [];
  return [...errors, ...(asOld.length > 0 ? asOld : (rules?.validate(value, { path }).errors ?? []))];
}
