import type { JsonSchema } from '@polder/kube';
import { factsOf, type GroupVersionKind } from '../builtin/facts.ts';
import { subresourcesOf } from '../discovery/subresources.ts';
import type { ServedKind } from '../served-kind.ts';
import { refTo } from './definitions.ts';
import { definitionOf } from './kind-schema.ts';

type Method = 'get' | 'put' | 'post' | 'delete' | 'patch';

/** Bodies by their media types. */
export type Content = Readonly<Record<string, { readonly schema: JsonSchema }>>;

export interface Parameter {
  readonly name: string;
  readonly in: 'query' | 'path';
  readonly required?: true;
  readonly schema: JsonSchema;
}

export interface Operation {
  readonly operationId: string;
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content: Content }>>;
  readonly 'x-kubernetes-action': string;
  readonly 'x-kubernetes-group-version-kind': GroupVersionKind;
}

type Operations = { readonly [M in Method]?: Operation };

export interface Path extends Operations {
  readonly parameters?: readonly Parameter[];
}

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';

/**
 * The endpoints of a kind. kubectl finds a kind by `x-kubernetes-group-version-kind` and reads off the parameters of
 * `patch` whether the server can dry-run and validate fields; other readers get bodies and answers as well.
 */
export function pathsOf(kind: ServedKind): Readonly<Record<string, Path>> {
  const root = kind.group === '' ? `/api/${kind.version}` : `/apis/${kind.group}/${kind.version}`;
  const collection = `${root}/${kind.namespaced ? 'namespaces/{namespace}/' : ''}${kind.plural}`;
  const object = `${collection}/{name}`;
  const inNamespace = kind.namespaced ? [pathParameter('namespace')] : [];
  const inObject = [pathParameter('name'), ...inNamespace];
  const name = definitionOf(kind);
  const paths: Record<string, Path> = {
    [collection]: { ...operations(kind, COLLECTION_VERBS, name, kind, ''), parameters: inNamespace },
  };
  if (kind.verbs.includes('get')) {
    paths[object] = { ...operations(kind, OBJECT_VERBS, name, kind, ''), parameters: inObject };
  }
  if (kind.namespaced && kind.verbs.includes('list')) {
    paths[`${root}/${kind.plural}`] = { ...operations(kind, { get: 'list' }, name, kind, '', 'ForAllNamespaces') };
  }
  for (const subresource of subresourcesOf(kind)) {
    const body = factsOf(subresource)?.definition ?? BODIES[subresource.kind] ?? name;
    paths[`${object}/${subresource.name}`] = {
      ...operations(
        { ...kind, verbs: subresource.verbs },
        SUBRESOURCE_VERBS,
        body,
        subresource,
        capital(subresource.name),
      ),
      parameters: inObject,
    };
  }
  return paths;
}

const METHODS: readonly Method[] = ['get', 'put', 'post', 'delete', 'patch'];

/** HTTP method → the verb that has to be served for it. */
type Verbs = { readonly [M in Method]?: string };
const COLLECTION_VERBS = { get: 'list', post: 'create', delete: 'deletecollection' };
const OBJECT_VERBS = { get: 'get', put: 'update', patch: 'patch', delete: 'delete' };
const SUBRESOURCE_VERBS = { get: 'get', put: 'update', patch: 'patch', post: 'create' };

/** Bodies of subresources that are no kinds of their own. */
const BODIES: Readonly<Record<string, string>> = {
  Scale: 'io.k8s.api.autoscaling.v1.Scale',
  Eviction: 'io.k8s.api.policy.v1.Eviction',
  TokenRequest: 'io.k8s.api.authentication.v1.TokenRequest',
};

const ACTIONS: Readonly<Record<string, string>> = { create: 'post', update: 'put' };
const OPERATION_NAMES: Readonly<Record<string, string>> = {
  get: 'read',
  update: 'replace',
  deletecollection: 'delete',
};

function operations(
  kind: ServedKind,
  verbs: Verbs,
  definition: string,
  { group, version, kind: bodyKind }: GroupVersionKind,
  subresource: string,
  scope = '',
): Operations {
  const found: { -readonly [M in Method]?: Operation } = {};
  for (const method of METHODS) {
    const verb = verbs[method];
    if (verb === undefined || !kind.verbs.includes(verb)) continue;
    const answer = verb === 'list' ? `${definition}List` : verb.startsWith('delete') ? `${META}.Status` : definition;
    const namespaced = kind.namespaced && scope === '' ? 'Namespaced' : '';
    const collection = verb === 'deletecollection' ? 'Collection' : '';
    const api = `${operationGroup(kind.group)}${capital(kind.version)}`;
    found[method] = {
      operationId: `${OPERATION_NAMES[verb] ?? verb}${api}${collection}${namespaced}${kind.kind}${subresource}${scope}`,
      parameters: PARAMETERS[verb] ?? [],
      ...bodyOf(kind, verb, definition),
      responses: { 200: { description: 'OK', content: { 'application/json': { schema: refTo(answer) } } } },
      'x-kubernetes-action': ACTIONS[verb] ?? verb,
      'x-kubernetes-group-version-kind': { group, version, kind: bodyKind },
    };
  }
  return found;
}

function bodyOf({ origin }: ServedKind, verb: string, definition: string): Pick<Operation, 'requestBody'> {
  if (verb === 'create' || verb === 'update')
    return { requestBody: { content: { '*/*': { schema: refTo(definition) } } } };
  if (verb === 'delete') return { requestBody: { content: { '*/*': { schema: refTo(`${META}.DeleteOptions`) } } } };
  if (verb !== 'patch') return {};
  const patch = { schema: refTo(`${META}.Patch`) };
  // kubectl sends what is offered here, and custom kinds know nothing of strategies.
  const types = origin === 'builtin' ? [...PATCH_TYPES, 'application/strategic-merge-patch+json'] : PATCH_TYPES;
  return { requestBody: { content: Object.fromEntries(types.map((type) => [type, patch])) } };
}

const PATCH_TYPES = ['application/apply-patch+yaml', 'application/json-patch+json', 'application/merge-patch+json'];

const query = (name: string, type: string): Parameter => ({ name, in: 'query', schema: { type } });
const pathParameter = (name: string): Parameter => ({
  name,
  in: 'path',
  required: true,
  schema: { type: 'string' },
});

const WRITING = [query('dryRun', 'string'), query('fieldManager', 'string'), query('fieldValidation', 'string')];
const SELECTING = [
  query('fieldSelector', 'string'),
  query('labelSelector', 'string'),
  query('resourceVersion', 'string'),
];
const DELETING = [
  query('dryRun', 'string'),
  query('gracePeriodSeconds', 'integer'),
  query('propagationPolicy', 'string'),
];

const PARAMETERS: Readonly<Record<string, readonly Parameter[]>> = {
  list: [
    ...SELECTING,
    query('allowWatchBookmarks', 'boolean'),
    query('continue', 'string'),
    query('limit', 'integer'),
    query('resourceVersionMatch', 'string'),
    query('sendInitialEvents', 'boolean'),
    query('timeoutSeconds', 'integer'),
    query('watch', 'boolean'),
  ],
  create: WRITING,
  update: WRITING,
  patch: [...WRITING, query('force', 'boolean')],
  delete: DELETING,
  deletecollection: [...DELETING, ...SELECTING],
};

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** `core`, `apps`, `rbac.authorization.k8s.io` → `Core`, `Apps`, `RbacAuthorization`, as generated clients expect. */
function operationGroup(group: string): string {
  if (group === '') return 'Core';
  return group
    .replace(/\.k8s\.io$/, '')
    .split(/[.-]/)
    .map(capital)
    .join('');
}
