import type { CustomResourceDefinition } from './core.gen.ts';
import type { JsonSchema } from './json-schema.ts';
import type { FieldProblem } from './validate.ts';

/**
 * The API server prices each CEL rule by the largest value that the schema admits, and refuses a CRD that could become too
 * dear. This lists what such a price is driven up by: lists and maps without a bound around a rule, and texts, lists and maps
 * without a bound that a rule reads. Which fields a rule reads is taken from the names in its text.
 */
export function unboundedUnderRules(crd: CustomResourceDefinition): readonly FieldProblem[] {
  const problems = crd.spec.versions.flatMap(({ name, schema }) => walk(schema?.openAPIV3Schema ?? {}, name, []));
  return [...new Map(problems.map((problem) => [problem.path, problem])).values()];
}

function walk(node: JsonSchema, path: string, around: readonly FieldProblem[]): readonly FieldProblem[] {
  const rules = node['x-kubernetes-validations'] ?? [];
  const here = rules.flatMap(({ rule }) => read(node, path, namesIn(rule)));
  const inside = [...around, ...(isContainer(node) ? unbounded(node, path) : [])];
  return [
    ...(rules.length > 0 ? around : []),
    ...here,
    ...childrenOf(node, path).flatMap(({ child, at }) => walk(child, at, inside)),
  ];
}

/** `has(self.a)` only asks whether it is there, whatever its size. A bare `self` reads all. */
function namesIn(rule: string): ReadonlySet<string> | 'all' {
  const text = rule.replaceAll(/"[^"]*"|'[^']*'/g, '""').replaceAll(/\bhas\([^)]*\)/g, '');
  if (/\b(self|oldSelf)\b(?!\s*[.[])/.test(text)) return 'all';
  return new Set(text.match(/[A-Za-z_]\w*/g));
}

function read(node: JsonSchema, path: string, names: ReadonlySet<string> | 'all'): readonly FieldProblem[] {
  const children = childrenOf(node, path).filter(
    ({ name }) => name === undefined || names === 'all' || names.has(name),
  );
  return [...unbounded(node, path), ...children.flatMap(({ child, at }) => read(child, at, names))];
}

const isContainer = (node: JsonSchema) => node.type === 'array' || typeof node.additionalProperties === 'object';

function unbounded(node: JsonSchema, path: string): readonly FieldProblem[] {
  const problem = (keyword: string) => [{ path, message: `is under a rule and has no ${keyword}` }];
  if (node.type === 'array' && node.maxItems === undefined) return problem('maxItems');
  if (typeof node.additionalProperties === 'object' && node.maxProperties === undefined)
    return problem('maxProperties');
  // A date or an address has a length of its own, and the longest of an enum is known.
  const isBound = node.maxLength !== undefined || node.enum !== undefined || node.format !== undefined;
  return node.type === 'string' && !isBound ? problem('maxLength') : [];
}

interface Child {
  readonly child: JsonSchema;
  readonly at: string;
  /** Undefined for items and map values: who reads a list may read them all. */
  readonly name?: string;
}

function childrenOf(node: JsonSchema, path: string): readonly Child[] {
  const fields = Object.entries(node.properties ?? {});
  return [
    ...fields.map(([name, child]): Child => ({ child, at: `${path}.${name}`, name })),
    ...(typeof node.additionalProperties === 'object' ? [{ child: node.additionalProperties, at: `${path}.*` }] : []),
    ...(node.items ? [{ child: node.items, at: `${path}[]` }] : []),
  ];
}
