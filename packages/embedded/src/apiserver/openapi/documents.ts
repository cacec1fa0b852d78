import { createHash } from 'node:crypto';
import type { JsonSchema } from '@polder/kube';
import { KUBERNETES_VERSION } from '../builtin/facts.gen.ts';
import { printJson } from '../exact-json.ts';
import type { ServedKind } from '../served-kind.ts';
import { withReferences } from './definitions.ts';
import { schemasOf } from './kind-schema.ts';
import { type Path, pathsOf } from './paths.ts';
import { type Swagger, swaggerPaths, swaggerSchemas } from './swagger.ts';

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

/** `/openapi/v2`: one document of everything. kubectl asks for it to check what is inside of a `List`. */
export function swagger(kinds: readonly ServedKind[]): Swagger {
  const { paths, components } = contents(kinds);
  return { swagger: '2.0', info: INFO, paths: swaggerPaths(paths), definitions: swaggerSchemas(components.schemas) };
}

function contents(kinds: readonly ServedKind[]) {
  const paths: Readonly<Record<string, Path>> = Object.assign({}, ...kinds.map(pathsOf));
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
