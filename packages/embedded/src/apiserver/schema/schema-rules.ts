/**
 * What a CRD's schema may say, node by node, beyond being structural: supported types, list and map types with their keys,
 * and rules that compile. Words: `apiextensions-apiserver/pkg/apis/apiextensions/validation`.
 */
import type { ValidationRule } from '@polder/kube';
import { compileRules, parseFieldPath } from '../cel/index.ts';
import type { FieldError } from '../status.ts';
import { child, forbidden, indexed, internal, invalidValue, keyed, notSupported, required } from './field-errors.ts';
import { validateListKeys, validateListType } from './list-schema.ts';
import { type JsonSchema, Schema } from './schema.ts';

interface Findings {
  readonly schema: readonly FieldError[];
  /** Kept apart: rules are compiled only where the schema below them has no errors. */
  readonly rules: readonly FieldError[];
}

interface Place {
  readonly path: string;
  readonly isRoot: boolean;
  /** Inside of apiVersion, kind or metadata of a resource. */
  readonly inMeta: boolean;
  readonly noDefaults: string | undefined;
  /** The list above whose items have no identity, so that `oldSelf` means nothing. */
  readonly uncorrelated: string | undefined;
  /** Alternatives have no rules of their own, and none are compiled when the schema is not structural. */
  readonly compiles: boolean;
}

export function validateSchemaRules(schema: JsonSchema, path: string, isStructural: boolean): readonly FieldError[] {
  const found = walk(schema, {
    path,
    isRoot: true,
    inMeta: false,
    noDefaults: undefined,
    uncorrelated: undefined,
    compiles: isStructural,
  });
  return [...found.schema, ...found.rules];
}

const TYPES = ['array', 'boolean', 'integer', 'number', 'object', 'string'];
const OF_EVERY_OBJECT = ['apiVersion', 'kind', 'metadata'];

function walk(node: JsonSchema, place: Place): Findings {
  const { path } = place;
  const below: Findings[] = [];
  const visit = (part: JsonSchema | undefined, change: Partial<Place> & { path: string }) => {
    if (part !== undefined) below.push(walk(part, { ...place, isRoot: false, ...change }));
  };
  if (typeof node.additionalProperties === 'object') {
    const noDefaults = place.inMeta ? 'inside additionalProperties applying to object metadata' : place.noDefaults;
    visit(node.additionalProperties, { path: child(path, 'additionalProperties'), noDefaults });
  }
  for (const [name, property] of Object.entries(node.properties ?? {})) {
    const isMeta = (place.isRoot || node['x-kubernetes-embedded-resource']) && OF_EVERY_OBJECT.includes(name);
    visit(property, {
      path: keyed(child(path, 'properties'), name),
      inMeta: place.inMeta || isMeta === true,
      noDefaults: isMeta && place.isRoot ? `in top-level ${name}` : place.noDefaults,
    });
  }
  visit(node.not, { path: child(path, 'not'), compiles: false });
  for (const name of ['allOf', 'oneOf', 'anyOf'] as const) {
    for (const [index, part] of (node[name] ?? []).entries()) {
      visit(part, { path: indexed(child(path, name), index), compiles: false });
    }
  }
  const isKeyed = node['x-kubernetes-list-type'] === 'map';
  const uncorrelated = place.uncorrelated ?? (isKeyed ? undefined : path);
  visit(node.items, { path: child(path, 'items'), uncorrelated });

  const schema = [...below.flatMap((found) => found.schema), ...nodeErrors(node, place)];
  const rules = below.flatMap((found) => found.rules);
  if (schema.length === 0 && place.compiles) rules.push(...compileErrors(node, place));
  return { schema, rules };
}

function nodeErrors(node: JsonSchema, place: Place): readonly FieldError[] {
  const { path } = place;
  const errors = [...standardErrors(node, place)];
  if (node.uniqueItems) {
    const detail = 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic';
    errors.push(forbidden(child(path, 'uniqueItems'), detail));
  }
  const hasProperties = Object.keys(node.properties ?? {}).length > 0;
  if (hasProperties && node.additionalProperties !== undefined && node.additionalProperties !== true) {
    const detail = 'additionalProperties and properties are mutual exclusive';
    errors.push(forbidden(child(path, 'additionalProperties'), detail));
  }
  if (node['x-kubernetes-preserve-unknown-fields'] === false) {
    errors.push(invalidValue(child(path, 'x-kubernetes-preserve-unknown-fields'), false, 'must be true or undefined'));
  }
  errors.push(...validateListType(node, path), ...validateListKeys(node, path));
  for (const [index, rule] of (node['x-kubernetes-validations'] ?? []).entries()) {
    errors.push(...ruleErrors(rule, node, indexed(child(path, 'x-kubernetes-validations'), index)));
  }
  return errors;
}

const UNSUPPORTED = ['id', 'additionalItems', 'patternProperties', 'definitions', 'dependencies', '$ref'];

function standardErrors(node: JsonSchema, { path, inMeta, noDefaults }: Place): readonly FieldError[] {
  const errors: FieldError[] = [];
  const { type = '' } = node;
  if (type !== '' && !TYPES.includes(type)) errors.push(notSupported(child(path, 'type'), type, TYPES));
  if (node.default !== undefined && node.default !== null && noDefaults !== undefined) {
    errors.push(forbidden(child(path, 'default'), `must not be set ${noDefaults}`));
  }
  for (const name of UNSUPPORTED) {
    if (Object.hasOwn(node, name)) errors.push(forbidden(child(path, name), `${name} is not supported`));
  }
  if (type === 'null') {
    errors.push(forbidden(child(path, 'type'), 'type cannot be set to null, use nullable as an alternative'));
  }
  if (inMeta && node['x-kubernetes-embedded-resource']) {
    errors.push(forbidden(child(path, 'x-kubernetes-embedded-resource'), 'must not be used inside of resource meta'));
  }
  return errors;
}

const REASONS = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'];
const hasLineBreaks = (text: string) => /[\n\r]/.test(text);

function ruleErrors(rule: ValidationRule, node: JsonSchema, path: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  const { message = '', messageExpression = '', reason, fieldPath = '' } = rule;
  const text = (rule.rule ?? '').trim();
  const at = (name: string) => child(path, name);
  if (text === '') errors.push(required(at('rule'), 'rule is not specified'));
  else if (message !== '' && message.trim() === '') {
    errors.push(invalidValue(at('message'), message, 'must be non-empty if specified'));
  } else if (hasLineBreaks(message.trim())) {
    errors.push(invalidValue(at('message'), message, 'must not contain line breaks'));
  } else if (hasLineBreaks(text) && message.trim() === '') {
    errors.push(required(at('message'), 'message must be specified if rule contains line breaks'));
  }
  if (messageExpression !== '' && messageExpression.trim() === '') {
    errors.push(required(at('messageExpression'), 'messageExpression must be non-empty if specified'));
  }
  if (reason !== undefined && !REASONS.includes(reason)) errors.push(notSupported(at('reason'), reason, REASONS));
  if (fieldPath !== '' && fieldPath.trim() === '') {
    errors.push(invalidValue(at('fieldPath'), fieldPath, 'must be non-empty if specified'));
  }
  if (hasLineBreaks(fieldPath)) {
    errors.push(invalidValue(at('fieldPath'), fieldPath, 'must not contain line breaks'));
  }
  if (fieldPath !== '' && parseFieldPath(new Schema(node), fieldPath) === undefined) {
    errors.push(invalidValue(at('fieldPath'), fieldPath, 'must be a valid path'));
  }
  return errors;
}

function compileErrors(node: JsonSchema, { path, isRoot, uncorrelated }: Place): readonly FieldError[] {
  if (!node['x-kubernetes-validations']?.length) return [];
  const list = child(path, 'x-kubernetes-validations');
  const compiled = compileRules(new Schema(node), isRoot || node['x-kubernetes-embedded-resource'] === true);
  if (compiled === undefined) {
    return [internal(list, 'internal error: failed to retrieve type information for x-kubernetes-validations')];
  }
  return compiled.flatMap(({ rule, error, messageError, usesOldSelf }, index) => {
    const at = (name: string) => child(indexed(list, index), name);
    const errors: FieldError[] = [];
    if (error !== undefined) errors.push(invalidValue(at('rule'), quoted(rule), error));
    if (messageError !== undefined) errors.push(invalidValue(at('messageExpression'), quoted(rule), messageError));
    if (usesOldSelf && uncorrelated !== undefined) {
      const detail = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${uncorrelated}`;
      errors.push(invalidValue(at('rule'), rule.rule, detail));
    }
    if (!usesOldSelf && error === undefined && rule.optionalOldSelf !== undefined) {
      const detail = 'may not be set if oldSelf is not used in rule';
      errors.push(invalidValue(at('optionalOldSelf'), rule.optionalOldSelf, detail));
    }
    return errors;
  });
}

/** A rule as the real server quotes it: its Go struct. */
const quoted = ({ rule, message, messageExpression, reason, fieldPath, optionalOldSelf }: ValidationRule) => ({
  Rule: rule,
  Message: message ?? '',
  MessageExpression: messageExpression ?? '',
  Reason: reason ?? null,
  FieldPath: fieldPath ?? '',
  OptionalOldSelf: optionalOldSelf ?? null,
});
