/**
 * How the fields of a flow are declared. A declaration is a typebox schema, so its TypeScript type is inferred, with a few
 * keywords of our own for what JSON Schema can't say. Everything else in this folder is derived from the declarations.
 *
 * A field is optional with `Type.Optional`, or by having a `default`: then the type has it always, and a user need not.
 */
import { type Static, type TObject, type TProperties, type TSchemaOptions, type TUnsafe, Type } from 'typebox';
import type { Finding } from './finding.ts';

/** A declaration as the walkers of this folder read it. */
export interface Schema {
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'boolean';
  readonly description?: string;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  /** The values of a map. */
  readonly additionalProperties?: Schema;
  readonly propertyNames?: { readonly format: Format };
  readonly items?: Schema;
  readonly enum?: readonly string[];
  readonly format?: Format;
  readonly nullable?: boolean;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minProperties?: number;
  /** A number or a text. */
  readonly 'x-kubernetes-int-or-string'?: true;
  /** Any object: its type is a type of Kubernetes, which checks it. */
  readonly 'x-kubernetes-preserve-unknown-fields'?: true;
  /** Never shown. */
  readonly 'x-polder-secret'?: true;
  /** The name of the field that refers to a Secret for this one's value. */
  readonly 'x-polder-secret-ref'?: string | true;
  /** The field that makes this one unnecessary. */
  readonly 'x-polder-unless'?: string;
  /** What is said if the field is missing, where "<field> is required" would not do. */
  readonly 'x-polder-missing'?: string;
  /** The values of `enum` may be written in either case and with `-` for `_`. */
  readonly 'x-polder-any-case'?: true;
  /** A transformation that may be given by its type alone. */
  readonly 'x-polder-bare'?: true;
  readonly 'x-polder-block'?: Block;
  /** What holds between the fields of an object. */
  'x-polder-rule'?(given: object, has: (field: string) => boolean): readonly Finding[];
}

/** What a text has to look like; `formats.ts` says what that means. */
export type Format =
  | 'condition'
  | 'date-time'
  | 'duration'
  | 'header-mapping'
  | 'http-url'
  | 'inserted-value'
  | 'json'
  | 'path'
  | 'quantity'
  | 'rename'
  | 'single-path'
  | 'target-path'
  | 'time-zone'
  | 'top-level-key'
  | 'unsigned-integer'
  | 'zone-or-offset';

/** The value may come from a Secret: beside `topic` there is `topicSecretRef`, which wins. */
export const FROM_SECRET = { 'x-polder-secret-ref': true } as const;
/** It may come from a Secret, and should: it is never shown, and as a literal it is warned of. */
export const SECRET = { ...FROM_SECRET, 'x-polder-secret': true } as const;

export const unless = (field: string) => ({ 'x-polder-unless': field }) as const;
export const missing = (message: string) => ({ 'x-polder-missing': message }) as const;

export const INT32 = { maximum: 2_147_483_647 } as const;

export function oneOf<const T extends string>(values: readonly T[], options: TSchemaOptions = {}): TUnsafe<T> {
  return Type.Unsafe<T>({ type: 'string', enum: values, ...options });
}

export function mapOf<T>(values: TUnsafe<T>, options: TSchemaOptions = {}): TUnsafe<Record<string, T>> {
  return Type.Unsafe<Record<string, T>>({ type: 'object', additionalProperties: values, ...options });
}

/** An object of a type that Kubernetes has and checks. */
export function ofKubernetes(options: TSchemaOptions = {}): TUnsafe<Record<string, unknown>> {
  return Type.Unsafe<Record<string, unknown>>({
    type: 'object',
    'x-kubernetes-preserve-unknown-fields': true,
    ...options,
  });
}

/**
 * What was given of an object, with the defaults: fields of the wrong type are absent. `has` also knows of fields whose value
 * is to come from a Secret.
 */
export type Rule<T> = (given: Given<T>, has: (field: keyof T & string) => boolean) => readonly Finding[];

export type Given<T> = T extends readonly (infer Item)[]
  ? readonly Given<Item>[]
  : T extends object
    ? { readonly [Field in keyof T]?: Given<T[Field]> | undefined }
    : T;

export function withRule<S extends TObject>(schema: S, rule: Rule<Static<S>>): S {
  return Object.assign(schema, { 'x-polder-rule': rule });
}

/** A choice between types: `{type: kafka, kafka: {…}}` or `{type: kafka, config: {…}}`. */
export interface Block {
  readonly noun: 'source' | 'sink' | 'transformation';
  readonly variants: Readonly<Record<string, TObject>>;
  /** Fields that all types have, beside `type` and `config`. */
  readonly fields: TProperties;
}

/** A block in its one shape: the envelope. */
export type Chosen<Variants extends Readonly<Record<string, TObject>>> = {
  [Type in keyof Variants & string]: { type: Type; config: Static<Variants[Type]> };
}[keyof Variants & string];

export function block<T>(definition: Block, options: TSchemaOptions = {}): TUnsafe<T> {
  return Type.Unsafe<T>({ ...options, type: 'object', 'x-polder-block': definition });
}

/** Reads a declaration. */
export function schemaOf(declaration: object): Schema {
  return declaration;
}

/** The name of the field beside `name` that refers to a Secret, if there may be one. */
export function secretRefOf(name: string, { 'x-polder-secret-ref': ref }: Schema): string | undefined {
  return ref === true ? `${name}SecretRef` : ref;
}

export type Immutable<T> = T extends (infer Item)[]
  ? readonly Immutable<Item>[]
  : T extends object
    ? { readonly [Field in keyof T]: Immutable<T[Field]> }
    : T;
