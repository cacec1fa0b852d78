import { checkOf, withDefaults } from './check.ts';
import type { CustomResourceDefinition } from './core.gen.ts';
import type { JsonSchema } from './json-schema.ts';
import type { FieldProblem } from './validate.ts';

/**
 * What a real API server would have against the schemas of a CRD, as far as `crdOf` could get it wrong: places without one
 * clear type, keywords that nobody knows, defaults that their own schema refuses. CEL is compiled by the server alone.
 */
export function structuralProblems(crd: CustomResourceDefinition): readonly FieldProblem[] {
  return crd.spec.versions.flatMap(({ name, schema }) => {
    const root = schema?.openAPIV3Schema;
    if (root === undefined) return [{ path: name, message: 'has no schema' }];
    return [...rootProblems(root, name), ...nodeProblems(root, name)];
  });
}

function rootProblems(root: JsonSchema, path: string): readonly FieldProblem[] {
  const problems: FieldProblem[] = [];
  if (root.type !== 'object') problems.push({ path, message: 'must be an object' });
  const said = Object.keys(root.properties?.['metadata'] ?? {}).filter((keyword) => keyword !== 'type');
  if (said.length > 0)
    problems.push({ path: `${path}.metadata`, message: `must have a type alone, not ${said.join(', ')}` });
  return problems;
}

const KNOWN: ReadonlySet<string> = new Set(
  `description type format title default example nullable enum required properties additionalProperties
  items allOf anyOf oneOf not minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength
  maxLength pattern minItems maxItems minProperties maxProperties x-kubernetes-validations
  x-kubernetes-preserve-unknown-fields x-kubernetes-embedded-resource x-kubernetes-int-or-string
  x-kubernetes-list-type x-kubernetes-list-map-keys x-kubernetes-map-type`.split(/\s+/),
);

/** A branch of `allOf`, `anyOf`, `oneOf` or `not` narrows; what a value *is* must be said outside of it. */
const NOT_IN_BRANCHES: readonly (keyof JsonSchema)[] = [
  'type',
  'description',
  'title',
  'default',
  'nullable',
  'additionalProperties',
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-embedded-resource',
  'x-kubernetes-int-or-string',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
];

const TYPES: readonly (string | undefined)[] = ['object', 'array', 'string', 'integer', 'number', 'boolean'];

function unknownKeywords(node: JsonSchema, path: string): readonly FieldProblem[] {
  const unknown = Object.keys(node).filter((keyword) => !KNOWN.has(keyword));
  return unknown.map((keyword) => ({ path, message: `${keyword} is no keyword of a CRD` }));
}

function nodeProblems(node: JsonSchema, path: string): readonly FieldProblem[] {
  const problem = (message: string) => ({ path, message });
  const { properties = {}, additionalProperties: values, items } = node;
  const isFree = node['x-kubernetes-int-or-string'] ?? node['x-kubernetes-preserve-unknown-fields'] ?? false;
  const problems = [...unknownKeywords(node, path)];
  if (!TYPES.includes(node.type) && !(node.type === undefined && isFree)) problems.push(problem('has no type'));
  if (node.type === 'array' && items === undefined) problems.push(problem('is a list without items'));
  if (node.properties && values !== undefined) problems.push(problem('has both properties and additionalProperties'));
  if (node.enum?.includes(null)) problems.push(problem('has null in its enum, which the API server loses'));
  return [
    ...problems,
    ...listProblems(node, path),
    ...defaultProblems(node, path),
    ...branchProblems(node, path),
    ...Object.entries(properties).flatMap(([name, child]) => nodeProblems(child, `${path}.${name}`)),
    ...(typeof values === 'object' ? nodeProblems(values, `${path}.*`) : []),
    ...(items ? nodeProblems(items, `${path}[]`) : []),
  ];
}

const isAtomic = (node: JsonSchema | undefined) =>
  node?.['x-kubernetes-list-type'] === 'atomic' || node?.['x-kubernetes-map-type'] === 'atomic';
const isScalar = (node: JsonSchema | undefined) => node?.type !== 'object' && node?.type !== 'array';

function listProblems(node: JsonSchema, path: string): readonly FieldProblem[] {
  const { items } = node;
  const type = node['x-kubernetes-list-type'];
  if (type === 'set' && !isScalar(items) && !isAtomic(items)) {
    return [{ path, message: 'is a set of objects or lists; only scalars can be told apart' }];
  }
  if (type !== 'map') return [];
  const keys = node['x-kubernetes-list-map-keys'] ?? [];
  if (keys.length === 0) return [{ path, message: 'is a list map without keys' }];
  return keys.flatMap((key) => {
    const property = items?.properties?.[key];
    if (property === undefined) return [{ path, message: `has the key ${key}, which its items have not` }];
    if (!isScalar(property)) return [{ path, message: `has the key ${key}, which is no scalar` }];
    const isThere = items?.required?.includes(key) || property.default !== undefined;
    return isThere ? [] : [{ path, message: `has the key ${key}, which is neither required nor has a default` }];
  });
}

function defaultProblems(node: JsonSchema, path: string): readonly FieldProblem[] {
  if (node.default === undefined) return [];
  const check = checkOf(node);
  if (check(withDefaults(node, node.default))) return [];
  return [{ path, message: `has a default that its own schema refuses: ${check.errors?.[0]?.message ?? 'invalid'}` }];
}

function branchProblems(node: JsonSchema, path: string): readonly FieldProblem[] {
  const branches = [
    ...(node.allOf ?? []),
    ...(node.anyOf ?? []),
    ...(node.oneOf ?? []),
    ...(node.not ? [node.not] : []),
  ];
  // The one exception: beside int-or-string, `anyOf` may name the two types.
  const isEither = node['x-kubernetes-int-or-string'] === true;
  return branches.flatMap((branch) => [
    ...unknownKeywords(branch, path),
    ...NOT_IN_BRANCHES.filter((keyword) => branch[keyword] !== undefined && !(isEither && keyword === 'type')).map(
      (keyword) => ({ path, message: `says ${keyword} inside allOf, anyOf, oneOf or not` }),
    ),
    ...Object.entries(branch.properties ?? {}).flatMap(([name, child]) => [
      ...(node.properties && !node.properties[name]
        ? [{ path: `${path}.${name}`, message: 'is only known inside allOf, anyOf, oneOf or not' }]
        : []),
      ...branchProblems({ allOf: [child] }, `${path}.${name}`),
    ]),
    ...branchProblems(branch, path),
  ]);
}
