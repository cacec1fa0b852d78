import type { ErrorObject } from 'ajv';
import { type Check, checkOf, isRecord, propertyOf, withDefaults } from './check.ts';
import { rootSchemaOf } from './crd.ts';
import type { CustomKind } from './custom-kind.ts';
import { nearest } from './nearest.ts';
import { apiVersionOf } from './object.ts';
import type { StructuralSchema } from './structural-schema.ts';

/** One thing wrong with one field: `spec.replicas` · `must be at least 1, but is 0`. */
export interface FieldProblem {
  /** `spec.sinks[0].topic`; empty for the object itself. */
  readonly path: string;
  readonly message: string;
}

/**
 * Everything that the kind's schema has against an object, all at once. CEL rules are not among it: the API server runs them.
 *
 * A value is quoted in its message unless it may be a secret, and that is: its field or one above it is marked with
 * `secret()` or has a name with password, passphrase, secret, token, credential, apiKey or privateKey in it. Objects and
 * lists are never quoted, texts are cut, user and password are taken out of URLs.
 */
export function validate(kind: CustomKind, object: unknown): readonly FieldProblem[] {
  const { schema, check } = compiled(kind);
  const filled = withDefaults(schema, object);
  const problems = check(filled) ? [] : (check.errors ?? []).flatMap((error) => problemOf(error, schema));
  return [...identityProblems(kind, filled), ...withoutEchoes(problems)];
}

/** The lines for a person: `spec.replicas: must be at least 1, but is 0`. */
export function describeProblem({ path, message }: FieldProblem): string {
  return path === '' ? message : `${path}: ${message}`;
}

const cache = new WeakMap<CustomKind, { readonly schema: StructuralSchema; readonly check: Check }>();

/** Compiling takes longer than a thousand checks, so it is done once for each kind. */
function compiled(kind: CustomKind) {
  const known = cache.get(kind);
  if (known) return known;
  const root = rootSchemaOf(kind);
  // The server has its own schema for metadata and checks it against that.
  const metadata: StructuralSchema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const schema = { ...root, properties: { ...root.properties, metadata } };
  const made = { schema, check: checkOf(schema) };
  cache.set(kind, made);
  return made;
}

function identityProblems(kind: CustomKind, object: unknown): readonly FieldProblem[] {
  if (!isRecord(object)) return [];
  const wanted = { apiVersion: apiVersionOf(kind), kind: kind.kind };
  return Object.entries(wanted)
    .filter(([field, value]) => object[field] !== value)
    .map(([path, value]) => {
      const found = object[path];
      return {
        path,
        message: found === undefined ? `is required: ${value}` : `must be ${value}, but is ${shown(found)}`,
      };
    });
}

/** A wrong discriminator or a broken alternative makes ajv report its parts too; the first line at a path says enough. */
function withoutEchoes(problems: readonly FieldProblem[]): readonly FieldProblem[] {
  const lines = new Map(problems.map((problem) => [describeProblem(problem), problem]));
  return [...lines.values()];
}

function problemOf(error: ErrorObject, schema: StructuralSchema): readonly FieldProblem[] {
  const segments = error.instancePath.split('/').slice(1).map(unescaped);
  const at = (message: string, ...more: readonly string[]) => [
    { path: pathOf([...segments, ...more], schema), message },
  ];
  const is = isSecret(segments, schema) ? '' : `, but is ${shown(error.data)}`;
  const { params } = error;
  switch (error.keyword) {
    case 'required':
      return at('is required', String(params['missingProperty']));
    case 'additionalProperties': {
      const name = String(params['additionalProperty']);
      const known = Object.keys(isRecord(error.parentSchema?.['properties']) ? error.parentSchema['properties'] : {});
      const meant = nearest(name, known);
      return at(meant === undefined ? 'unknown field' : `unknown field; did you mean ${meant}?`, name);
    }
    case 'x-polder-variants':
      return at(String(params['message']), String(params['field']));
    case 'type':
      return at(`must be ${typesOf(error.schema)}${is}`);
    case 'enum':
      return at(`must be ${oneOf(error.schema)}${is}`);
    case 'minimum':
      return at(`must be at least ${params['limit']}${is}`);
    case 'maximum':
      return at(`must be at most ${params['limit']}${is}`);
    case 'exclusiveMinimum':
      return at(`must be more than ${params['limit']}${is}`);
    case 'exclusiveMaximum':
      return at(`must be less than ${params['limit']}${is}`);
    case 'multipleOf':
      return at(`must be a multiple of ${params['multipleOf']}${is}`);
    case 'minLength':
    case 'maxLength':
    case 'minItems':
    case 'maxItems':
    case 'minProperties':
    case 'maxProperties':
      return at(sizeMessage(error.keyword, Number(params['limit']), error.data));
    case 'pattern':
      return at(`must match ${params['pattern']}${is}`);
    case 'format':
      return at(`must be ${params['format']}${is}`);
    case 'x-polder-list-keys':
      return at(doubleMessage(params['keys']));
    case 'anyOf':
      return at('fits none of the alternatives that the schema has');
    case 'oneOf':
      return at('must fit exactly one of the alternatives that the schema has');
    case 'not':
      return at('is what the schema excludes');
    default:
      return at(error.message ?? `breaks the rule ${error.keyword}`);
  }
}

const UNITS: Readonly<Record<string, string>> = { Length: 'character', Items: 'item', Properties: 'entry' };

function sizeMessage(keyword: string, limit: number, value: unknown): string {
  const unit = UNITS[keyword.slice(3)] ?? '';
  const units = limit === 1 ? unit : unit.replace(/y$/, 'ie').concat('s');
  return `must have at ${keyword.startsWith('min') ? 'least' : 'most'} ${limit} ${units}, but has ${sizeOf(value)}`;
}

/** In characters as the server counts them, not in halves of characters. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return Array.from(value).length;
  return Array.isArray(value) ? value.length : Object.keys(isRecord(value) ? value : {}).length;
}

function doubleMessage(keys: unknown): string {
  const names = Array.isArray(keys) ? keys.join(' and ') : '';
  return names === '' ? 'is in the list already' : `has the ${names} of an item before it`;
}

const ARTICLES: Readonly<Record<string, string>> = {
  array: 'a list',
  boolean: 'true or false',
  integer: 'an integer',
  null: 'null',
  number: 'a number',
  object: 'an object',
  string: 'a string',
};

function typesOf(types: unknown): string {
  const all: readonly unknown[] = Array.isArray(types) ? types : [types];
  return all.map((type) => ARTICLES[String(type)] ?? String(type)).join(' or ');
}

function oneOf(values: unknown): string {
  const all: readonly unknown[] = Array.isArray(values) ? values : [];
  const list = all.map((value) => (typeof value === 'string' ? value : JSON.stringify(value)));
  return list.length === 1 ? (list[0] ?? '') : `one of ${list.join(', ')}`;
}

const SECRET_NAME = /password|passphrase|secret|token|credential|api_?key|private_?key/i;

function isSecret(segments: readonly string[], schema: StructuralSchema): boolean {
  return segments.some(
    (segment, depth) =>
      SECRET_NAME.test(segment) || schemaAt(segments.slice(0, depth + 1), schema)?.['x-polder-secret'] === true,
  );
}

function schemaAt(segments: readonly string[], schema: StructuralSchema): StructuralSchema | undefined {
  return segments.reduce<StructuralSchema | undefined>(
    (node, segment) => (node?.type === 'array' ? node.items : node && propertyOf(node, segment)),
    schema,
  );
}

const LONGEST = 64;

function shown(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  const text = JSON.stringify(value).replace(/\/\/[^/@\s]*@/g, '//…@');
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}…`;
}

/** `spec.sinks[0].topic` like the API server; but `spec.labels[a.b/c]`, where its dots would leave open what the key is. */
function pathOf(segments: readonly string[], schema: StructuralSchema): string {
  return segments
    .map((segment, depth) => {
      if (depth === 0) return segment;
      const isItem = schemaAt(segments.slice(0, depth), schema)?.type === 'array';
      return isItem || !/^[\w-]+$/.test(segment) ? `[${segment}]` : `.${segment}`;
    })
    .join('');
}

const unescaped = (segment: string) => segment.replaceAll('~1', '/').replaceAll('~0', '~');
