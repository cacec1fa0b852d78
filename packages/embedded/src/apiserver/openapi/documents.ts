import { createHash } from 'node:crypto';
import type { JsonSchema } from '@polder/kube';
import { KUBERNETES_VERSION } from '../builtin/facts.gen.ts';
import { printJson } from '../exact-json.ts';
import type { ServedKind } from '../served-kind.ts';
import { withReferences } from './definitions.ts';
import { schemasOf } from './kind-schema.ts';
import { pathsOf } from './paths.ts';

export type Document = Readonly<Record<string, unknown>>;

const INFO = { title: 'Kubernetes', version: KUBERNETES_VERSION };

/**
 * `/openapi/v3`: where each group's document is. The hash in a URL is that of what the document is made from, so the
 * index costs no document; a client may cache what it got under that URL for ever.
 */
export function index(kinds: readonly ServedKind[]): Document {
  const paths = [...Map.groupBy(kinds, pathOf)].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return {
    paths: Object.fromEntries(
      paths.map(([path, members]) => [path, { serverRelativeURL: `/openapi/v3/${path}?hash=${hashOf(members)}` }]),
    ),
  };
}

/** `/openapi/v3/api/v1` or `…/apis/<group>/<version>`; `path` is a key of the index. Undefined for what is not served. */
export function groupDocument(kinds: readonly ServedKind[], path: string): Document | undefined {
  const members = kinds.filter((kind) => pathOf(kind) === path);
  if (members.length === 0) return undefined;
  return { openapi: '3.0.0', info: INFO, ...contents(members) };
}

/**
 * `/openapi/v2`, in JSON: one document of everything, for clients that know nothing newer. kubectl does not ask for it
 * from a server that has `/openapi/v3`.
 */
export function swagger(kinds: readonly ServedKind[]): Document {
  const { paths, components } = contents(kinds);
  const text = JSON.stringify({ paths, definitions: components.schemas }, (_, value: unknown) => version2(value));
  const document: Document = JSON.parse(text.replaceAll('#/components/schemas/', '#/definitions/'));
  return { swagger: '2.0', info: INFO, ...document };
}

/** Whether an `Accept` header can be answered with JSON: old clients ask for protobuf alone. */
export function acceptsJson(accept: string | undefined): boolean {
  const ranges = (accept ?? '*/*').split(',').map((range) => range.split(';')[0]?.trim());
  return ranges.some((range) => range === 'application/json' || range === 'application/*' || range === '*/*');
}

function contents(kinds: readonly ServedKind[]) {
  const paths: Readonly<Record<string, unknown>> = Object.assign({}, ...kinds.map(pathsOf));
  const bodies: JsonSchema[] = [...JSON.stringify(paths).matchAll(/"\$ref":"([^"]+)"/g)].map(([, $ref = '']) => ({
    $ref,
  }));
  const schemas = withReferences(new Map(kinds.flatMap(schemasOf)), bodies);
  return { paths, components: { schemas } };
}

const pathOf = ({ group, version }: ServedKind) => (group === '' ? `api/${version}` : `apis/${group}/${version}`);

function hashOf(kinds: readonly ServedKind[]): string {
  const facts = kinds.map(({ origin, kind, plural, verbs, subresources, schema }) =>
    origin === 'builtin' ? kind : { kind, plural, verbs, subresources, schema: schema.node },
  );
  return createHash('sha512')
    .update(printJson([KUBERNETES_VERSION, facts]))
    .digest('hex')
    .toUpperCase();
}

/** Version 2 has no `allOf` around a reference, no `oneOf`, no `nullable`, and parameters without a `schema`. */
function version2(value: unknown): unknown {
  // Here a bound or a default is documentation.
  if (typeof value === 'bigint') return Number(value);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const {
    oneOf: _,
    anyOf: __,
    nullable: ___,
    allOf,
    content,
    schema,
    ...rest
  }: Readonly<Record<string, unknown>> = { ...value };
  const inner = Array.isArray(allOf) ? Object.assign({}, ...allOf) : {};
  if (rest['in'] === 'query' || rest['in'] === 'path') return { ...rest, ...(typeof schema === 'object' && schema) };
  return { ...rest, ...inner, ...(schema !== undefined && { schema }), ...(content !== undefined && jsonOf(content)) };
}

/** An answer's `content` becomes its `schema`. */
function jsonOf(content: unknown): object {
  const [first]: unknown[] = typeof content === 'object' && content !== null ? Object.values(content) : [];
  return typeof first === 'object' && first !== null ? first : {};
}
