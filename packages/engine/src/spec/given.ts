/** What a user has given, read by the declarations. Nothing here trusts the value: it may be any JSON. */
import type { TObject } from 'typebox';
import { type Block, type Schema, schemaOf, secretRefOf } from './schema.ts';

export type Fields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The value of a field, if it has one of its own. */
export const valueOf = (fields: Fields, name: string): unknown =>
  Object.hasOwn(fields, name) ? fields[name] : undefined;

/** Null and the empty text mean that there is nothing, as they do for a program in Go. */
export const isGiven = (value: unknown): boolean => value !== undefined && value !== null && value !== '';

export const isEmpty = (value: unknown): boolean =>
  !isGiven(value) ||
  (Array.isArray(value) && value.length === 0) ||
  (isFields(value) && Object.keys(value).length === 0);

/** Has the field a value, or is one to come from a Secret? */
export function has(schema: Schema, fields: Fields, name: string): boolean {
  const property = schema.properties?.[name];
  const ref = property && secretRefOf(name, property);
  return isGiven(valueOf(fields, name)) || (ref !== undefined && isGiven(valueOf(fields, ref)));
}

/** The part of a block that belongs to its type: under the name of the type, or under `config`. */
export interface Choice {
  readonly type: string;
  readonly schema: Schema;
  /** `kafka` or `config`; without either the former, which is where errors point. */
  readonly name: string;
  readonly config: unknown;
}

/** Undefined: the type is none of the block's. */
export function choiceOf(block: Block, fields: Fields): Choice | undefined {
  const type = valueOf(fields, 'type');
  if (typeof type !== 'string') return undefined;
  const variant = variantOf(block, type);
  if (variant === undefined) return undefined;
  const typed = valueOf(fields, type);
  const config = valueOf(fields, 'config');
  const name = isGiven(config) && !isGiven(typed) ? 'config' : type;
  return { type, schema: schemaOf(variant), name, config: valueOf(fields, name) };
}

export function variantOf(block: Block, type: string): TObject | undefined {
  return Object.hasOwn(block.variants, type) ? block.variants[type] : undefined;
}

/** The declarations of the fields that a block has beside its type. */
export const extrasOf = ({ fields }: Block): Readonly<Record<string, Schema>> =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, schemaOf(field)]));

/** The value of `enum` that was meant. */
export function wordOf(schema: Schema, value: unknown): string | undefined {
  if (value === null && schema.nullable) return wordOf(schema, 'null');
  if (typeof value !== 'string') return undefined;
  const spelled = (word: string) => (schema['x-polder-any-case'] ? word.toUpperCase().replaceAll('-', '_') : word);
  return schema.enum?.find((word) => spelled(word) === spelled(value));
}
