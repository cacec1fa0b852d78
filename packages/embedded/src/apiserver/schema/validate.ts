/**
 * A value against a schema, in the words of the real server: `k8s.io/kube-openapi/pkg/validation/validate` finds the
 * errors, `apiextensions-apiserver` turns them into field errors. All errors are reported at once.
 */
import { isNumeric } from '../exact-json.ts';
import type { FieldError } from '../status.ts';
import type { Correlation } from './correlation.ts';
import { sameJson } from './equality.ts';
import { child, indexed, invalidValue, notSupported, required, tooLong, tooMany, typeInvalid } from './field-errors.ts';
import { hasFormat, isStringFormat } from './formats.ts';
import { validateNumber } from './number-range.ts';
import { regularExpression } from './regular-expression.ts';
import { isObject, type JsonSchema, type Schema } from './schema.ts';

export interface ValidateOptions {
  /** Where the value is. The field of an error says it, the text does not: status and defaults are checked by themselves. */
  readonly under?: string;
  /** The value before the update: errors in what did not change are let pass. */
  readonly correlation?: Correlation | undefined;
}

export function validate(schema: Schema, value: unknown, options: ValidateOptions = {}): readonly FieldError[] {
  const { errors } = check(schema, value, '', options.correlation);
  const { under } = options;
  if (under === undefined) return errors;
  return errors.map((error) => ({ ...error, field: error.field === '<nil>' ? under : child(under, error.field) }));
}

/** `matches` counts the checks that held: of several failed alternatives, the errors of the closest one are shown. */
interface Result {
  readonly errors: readonly FieldError[];
  readonly matches: number;
}

const NOTHING: Result = { errors: [], matches: 0 };

function merge(results: readonly Result[]): Result {
  const errors: FieldError[] = [];
  let matches = 0;
  for (const result of results) {
    matches += result.matches;
    for (const error of result.errors) if (!errors.some((other) => sameJson(other, error))) errors.push(error);
  }
  return { errors, matches };
}

const found = (errors: readonly FieldError[], matches = 0): Result => ({ errors, matches });

function check(schema: Schema, value: unknown, path: string, correlation: Correlation | undefined): Result {
  const result = checkValue(schema, value, path, correlation);
  const isOld = result.errors.length > 0 && correlation?.isUnchanged;
  return isOld ? { errors: [], matches: result.matches } : result;
}

function checkValue(schema: Schema, value: unknown, path: string, correlation: Correlation | undefined): Result {
  const { node } = schema;
  if (value === null || value === undefined) return merge([checkType(node, null, path), checkEnum(node, null, path)]);
  const results: Result[] = [];
  if (typesOf(node).length > 0 || formatOf(node) !== '') results.push(checkType(node, value, path));
  results.push(checkAlternatives(schema, value, path, correlation));
  if (typeof value === 'string') results.push(checkString(node, value, path), checkFormat(node, value, path));
  if (isNumeric(value)) {
    results.push(found(validateNumber(node, typesOf(node), formatOf(node), value, path), 1));
  }
  if (Array.isArray(value)) results.push(checkItems(schema, value, path, correlation));
  results.push(checkEnum(node, value, path));
  if (isObject(value)) results.push(checkProperties(schema, value, path, correlation));
  const { errors, matches } = merge(results);
  return { errors, matches: matches + results.length + 1 };
}

const typesOf = (node: JsonSchema): readonly string[] => {
  if (node['x-kubernetes-int-or-string']) return ['integer', 'string'];
  return node.type === undefined || node.type === '' ? [] : [node.type];
};

/** The format as far as the server heeds it: an unknown one, or one of another type, is as good as none. */
function formatOf(node: JsonSchema): string {
  const format = node.format ?? '';
  const types = typesOf(node);
  const type = types.length === 1 ? types[0] : '';
  if (type === '' || type === 'string') return isStringFormat(format) ? format : '';
  if (type === 'integer') return format === 'int32' || format === 'int64' ? format : '';
  if (type === 'number') return format === 'float' || format === 'double' ? format : '';
  return '';
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'bigint') return 'integer';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

const wrongType = (path: string, type: string, actual: string) =>
  found([typeInvalid(path, actual, `${path} in body must be of type ${type}: ${JSON.stringify(actual)}`)]);

function checkType(node: JsonSchema, value: unknown, path: string): Result {
  const types = typesOf(node);
  const actual = typeOf(value);
  if (value === null) {
    return types.length > 0 && !node.nullable ? wrongType(path, types.join(','), actual) : found([], 1);
  }
  const format = formatOf(node);
  const isText = actual === 'string' || actual === 'array';
  const fits = types.includes(actual) || (actual === 'integer' && types.includes('number'));
  if (!isText && format !== '' && !fits) {
    return wrongType(path, format, actual === 'integer' ? 'int64' : actual === 'number' ? 'float64' : '');
  }
  // A list passes for a string with a format: the real server leaves both to the check of the format.
  if (isText && format !== '' && !types.includes('number') && !types.includes('integer')) return found([], 1);
  return fits ? found([], 1) : wrongType(path, types.join(','), actual);
}

function checkString(node: JsonSchema, value: string, path: string): Result {
  const length = Array.from(value).length;
  if (node.maxLength !== undefined && length > node.maxLength) return found([tooLong(path, node.maxLength)]);
  if (node.minLength !== undefined && length < node.minLength) {
    return found([invalidValue(path, value, `${path} in body should be at least ${node.minLength} chars long`)]);
  }
  if (node.pattern !== undefined && node.pattern !== '' && !regularExpression(node.pattern).test(value)) {
    return found([invalidValue(path, value, `${path} in body should match '${node.pattern}'`)]);
  }
  return NOTHING;
}

function checkFormat(node: JsonSchema, value: string, path: string): Result {
  const format = formatOf(node);
  return format === '' || hasFormat(format, value) ? NOTHING : wrongType(path, format, value);
}

function checkEnum(node: JsonSchema, value: unknown, path: string): Result {
  if (node.enum === undefined || node.enum.length === 0) return NOTHING;
  if (value !== null && node.enum.some((allowed) => sameJson(allowed, value))) return NOTHING;
  const names = node.enum.map((allowed) => (typeof allowed === 'string' ? allowed : JSON.stringify(allowed)));
  return found([notSupported(path, value, names)]);
}

function checkItems(schema: Schema, list: readonly unknown[], path: string, correlation?: Correlation): Result {
  const { node, items } = schema;
  const results = items
    ? list.map((item, index) => check(items, item, indexed(path, index), correlation?.item(index)))
    : [];
  const errors: FieldError[] = [];
  if (node.minItems !== undefined && list.length < node.minItems) {
    errors.push(invalidValue(path, list.length, `${path} in body should have at least ${node.minItems} items`));
  }
  if (node.maxItems !== undefined && list.length > node.maxItems) {
    errors.push(tooMany(path, list.length, node.maxItems));
  }
  if (node.uniqueItems && list.some((item, index) => list.slice(0, index).some((other) => sameJson(item, other)))) {
    errors.push(invalidValue(path, '', `${path} in body shouldn't contain duplicates`));
  }
  return merge([...results, found(errors, 1)]);
}

function checkProperties(
  schema: Schema,
  object: Readonly<Record<string, unknown>>,
  path: string,
  correlation?: Correlation,
): Result {
  const { node } = schema;
  const size = Object.keys(object).length;
  const errors: FieldError[] = [];
  if (node.minProperties !== undefined && size < node.minProperties) {
    errors.push(invalidValue(path, size, `${path} in body should have at least ${node.minProperties} properties`));
  }
  if (node.maxProperties !== undefined && size > node.maxProperties) {
    errors.push(tooMany(path, size, node.maxProperties));
  }
  const results: Result[] = [];
  for (const [name, value] of Object.entries(object)) {
    const property = schema.property(name);
    // The version is converted before it is stored, so a change of apiVersion or kind cannot be seen: never ratcheted.
    const isTypeMeta = path === '' && (name === 'apiVersion' || name === 'kind');
    if (property) {
      results.push(check(property, value, child(path, name), isTypeMeta ? undefined : correlation?.property(name)));
    } else if (node.additionalProperties === false && !Object.hasOwn(node.properties ?? {}, name)) {
      errors.push(invalidValue(path, name, `${path}.${name} in body is a forbidden property`));
    }
  }
  for (const name of node.required ?? []) {
    if (!Object.hasOwn(object, name)) errors.push(required(child(path, name)));
  }
  return merge([...results, found(errors)]);
}

/** `anyOf`, `oneOf`, `allOf`, `not`. Their own errors belong to no field: the real server names the path in the text. */
function checkAlternatives(schema: Schema, value: unknown, path: string, correlation?: Correlation): Result {
  const { node } = schema;
  const against = (alternative: JsonSchema) => checkValue(schema.within(alternative), value, path, correlation);
  const about = (text: string) => found([invalidValue('', '', `${JSON.stringify(path)} ${text}`)]);
  const results: Result[] = [];
  if (node.anyOf?.length) {
    const tried = node.anyOf.map(against);
    const first = tried.find(isValid);
    if (first) results.push(first);
    else results.push(about('must validate at least one schema (anyOf)'), closest(tried));
  }
  if (node.oneOf?.length) {
    const tried = node.oneOf.map(against);
    const valid = tried.filter(isValid);
    if (valid.length === 1) results.push(...valid);
    else {
      const count = valid.length === 0 ? 'Found none valid' : `Found ${valid.length} valid alternatives`;
      results.push(about(`must validate one and only one schema (oneOf). ${count}`));
      if (valid.length === 0) results.push(closest(tried));
    }
  }
  if (node.allOf?.length) {
    const tried = node.allOf.map(against);
    const valid = tried.filter(isValid).length;
    results.push(...tried);
    if (valid < tried.length) {
      results.push(about(`must validate all the schemas (allOf)${valid === 0 ? '. None validated' : ''}`));
    }
  }
  if (node.not && isValid(against(node.not))) results.push(about('must not validate the schema (not)'));
  return merge([...results, found([], 1)]);
}

const isValid = (result: Result) => result.errors.length === 0;

function closest(failures: readonly Result[]): Result {
  return failures.reduce((best, result) => (result.matches > best.matches ? result : best));
}
