import type { ValidationRule } from '@polder/kube';
import { type Correlation, itemWithSameKeys } from '../schema/correlation.ts';
import { child, duplicate, forbidden, indexed, invalidValue, keyed, required } from '../schema/field-errors.ts';
import { isObject, type JsonSchema, type Schema } from '../schema/schema.ts';
import type { FieldError } from '../status.ts';
import { parseFieldPath } from './field-path.ts';
import { type CompiledRule, compileRules, type Outcome } from './rules.ts';

/** Errors refuse the object; those of what an update did not touch are warnings (ratcheting). */
export interface RuleResult {
  readonly errors: readonly FieldError[];
  readonly warnings: readonly FieldError[];
}

export interface RuleContext {
  readonly path?: string;
  readonly old?: unknown;
  readonly correlation?: Correlation | undefined;
}

/** The rules of a schema and of all below it, compiled once. */
export class RuleValidator {
  readonly #schema: Schema;
  readonly #rules: readonly CompiledRule[];
  readonly #properties = new Map<string, RuleValidator>();
  readonly #others: RuleValidator | undefined;
  readonly #items: RuleValidator | undefined;

  private constructor(schema: Schema, isResource: boolean) {
    const { node } = schema;
    this.#schema = schema;
    this.#rules = node['x-kubernetes-validations']?.length ? (compileRules(schema, isResource) ?? []) : [];
    for (const [name, property] of Object.entries(node.properties ?? {})) {
      const validator = RuleValidator.#below(schema, property);
      if (validator) this.#properties.set(name, validator);
    }
    this.#others = RuleValidator.#below(schema, node.additionalProperties);
    this.#items = RuleValidator.#below(schema, node.items);
  }

  /** undefined when there is no rule at all. `isResource` is for the root of an object. */
  static of(schema: Schema, isResource: boolean): RuleValidator | undefined {
    return hasRules(schema) ? new RuleValidator(schema, isResource) : undefined;
  }

  static #below(schema: Schema, part: JsonSchema | boolean | undefined): RuleValidator | undefined {
    if (!isOwn(part)) return undefined;
    return RuleValidator.of(schema.within(part), part['x-kubernetes-embedded-resource'] === true);
  }

  validate(value: unknown, { path = '', old, correlation }: RuleContext = {}): RuleResult {
    const found: { errors: FieldError[]; warnings: FieldError[] } = { errors: [], warnings: [] };
    this.#walk(value, old, path, { here: correlation, above: undefined }, found);
    return found;
  }

  #walk(value: unknown, old: unknown, path: string, place: Place, found: Found): void {
    // A rule on a value that may be null sees it only when it is not.
    if (value === null || value === undefined) return;
    for (const compiled of this.#rules) {
      const error = this.#apply(compiled, value, old, path);
      if (error === undefined) continue;
      const isOld = error.isVerdict && !compiled.usesOldSelf && (place.here ?? place.above)?.isUnchanged === true;
      (isOld ? found.warnings : found.errors).push(error.error);
    }
    if (Array.isArray(value)) this.#walkItems(value, old, path, place, found);
    else if (isObject(value)) this.#walkProperties(value, old, path, place, found);
  }

  #walkProperties(
    value: Readonly<Record<string, unknown>>,
    old: unknown,
    path: string,
    place: Place,
    found: Found,
  ): void {
    for (const [name, member] of Object.entries(value)) {
      const declared = this.#properties.get(name);
      const validator = declared ?? this.#others;
      if (validator === undefined) continue;
      const before = isObject(old) && Object.hasOwn(old, name) ? old[name] : undefined;
      const inside = place.here ? { here: place.here.property(name), above: place.here } : place;
      validator.#walk(member, before, declared ? child(path, name) : keyed(path, name), inside, found);
    }
  }

  #walkItems(list: readonly unknown[], old: unknown, path: string, place: Place, found: Found): void {
    const items = this.#items;
    if (items === undefined) return;
    for (const [index, item] of list.entries()) {
      const before = Array.isArray(old) ? itemWithSameKeys(this.#schema, old, item) : undefined;
      const inside = place.here ? { here: place.here.item(index), above: place.here } : place;
      items.#walk(item, before, indexed(path, index), inside, found);
    }
  }

  #apply({ rule, usesOldSelf, evaluate, message }: CompiledRule, value: unknown, old: unknown, path: string) {
    // Transition rules need something to compare with, unless they asked to be told that there is nothing.
    const isNew = old === undefined || old === null;
    if (rule.rule.trim() === '' || (usesOldSelf && isNew && !rule.optionalOldSelf)) return undefined;
    const outcome = evaluate(value, old);
    const { type = '' } = this.#schema.node;
    if ('failed' in outcome)
      return { isVerdict: false, error: invalidValue(path, type, failure(outcome.failed, rule)) };
    if (outcome.value === true) return undefined;
    const detail = messageFrom(message?.(value, old)) ?? ruleMessage(rule);
    const at = rule.fieldPath ? joined(path, parseFieldPath(this.#schema, rule.fieldPath)?.path ?? '') : path;
    const shown = type === 'object' || type === 'array' ? {} : { value };
    return { isVerdict: true, error: verdict(rule, at, shown, detail) };
  }
}

interface Place {
  readonly here: Correlation | undefined;
  /** The nearest value above that has an old one: when it did not change, nothing below it did. */
  readonly above: Correlation | undefined;
}
type Found = { readonly errors: FieldError[]; readonly warnings: FieldError[] };

const joined = (path: string, below: string) => (below.startsWith('[') ? `${path}${below}` : child(path, below));

function hasRules({ node }: Schema): boolean {
  const hasAny = (part: JsonSchema): boolean =>
    Boolean(part['x-kubernetes-validations']?.length) ||
    [...Object.values(part.properties ?? {}), part.additionalProperties, part.items].filter(isOwn).some(hasAny);
  return hasAny(node);
}

/** References are to built-in types: they have no rules, and following them may not end (JSONSchemaProps). */
const isOwn = (part: JsonSchema | boolean | undefined): part is JsonSchema =>
  typeof part === 'object' && part.$ref === undefined && part.allOf?.[0]?.$ref === undefined;

const ruleMessage = ({ rule, message = '' }: ValidationRule) =>
  message === '' ? `failed rule: ${rule.trim()}` : message.trim();

function failure(why: string, { rule, message = '' }: ValidationRule): string {
  const name = message === '' ? rule.trim() : message.trim();
  return why === 'no such overload'
    ? `'${why}': call arguments did not match a supported operator, function or macro signature for rule: ${name}`
    : `${why} evaluating rule: ${name}`;
}

/** A message that cannot be had, is empty or has several lines gives way to the fixed one. */
function messageFrom(outcome: Outcome | undefined): string | undefined {
  if (outcome === undefined || 'failed' in outcome || typeof outcome.value !== 'string') return undefined;
  const text = outcome.value.trim();
  return text === '' || text.includes('\n') || Buffer.byteLength(text) > 5 * 1024 ? undefined : text;
}

/** A value is quoted unless it is an object or a list. */
function verdict({ reason }: ValidationRule, path: string, shown: { value?: unknown }, detail: string): FieldError {
  if (reason === 'FieldValueForbidden') return forbidden(path, detail);
  if (reason === 'FieldValueRequired') return required(path, detail);
  const { value: _, ...error } =
    reason === 'FieldValueDuplicate' ? duplicate(path, undefined) : invalidValue(path, undefined, detail);
  return { ...error, ...shown };
}
