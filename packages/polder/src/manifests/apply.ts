import { isDeepStrictEqual } from 'node:util';
import {
  ApiError,
  type Client,
  type Clock,
  type CustomResourceDefinition,
  type Kind,
  type KubernetesObject,
  sleep,
} from '@polder/kube';
import { ServedKinds } from './kinds.ts';
import type { Manifest } from './read.ts';

/**
 * Manifests are applied as `kubectl apply` would, so that users go on with it from here, on the server or not: they
 * are no other manager to conflict with, and find the annotation that they look for. Its contents are the server's to write.
 */
const FIELD_MANAGER = 'kubectl';
const LAST_APPLIED = { 'kubectl.kubernetes.io/last-applied-configuration': '{}' };

export interface AppliedObject {
  readonly kind: Kind;
  readonly object: KubernetesObject;
  readonly did: 'created' | 'changed' | 'unchanged';
}

export interface ApplyTools {
  readonly client: Client;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly applied: (one: AppliedObject) => void;
}

/** What others stand on comes first. */
const FIRST = ['Namespace', 'CustomResourceDefinition', 'StorageClass', 'PriorityClass'];

/** How long a new kind may take to be served. */
const SERVED_WITHIN_MS = 10_000;

/**
 * Makes the cluster have these objects (server-side apply). All that can be judged beforehand is judged before the first is
 * written: a mistake in the last manifest leaves the cluster as it was.
 */
export async function applyManifests(
  manifests: readonly Manifest[],
  tools: ApplyTools,
): Promise<readonly AppliedObject[]> {
  const rank = ({ object }: Manifest) => (FIRST.includes(object.kind) ? FIRST.indexOf(object.kind) : FIRST.length);
  const ordered = manifests.toSorted((a, b) => rank(a) - rank(b));
  const kinds = new ServedKinds(tools.client);
  const brought = new Set<string>();
  const namespaces = new Set(
    ordered.filter(({ object }) => object.kind === 'Namespace').map(({ object }) => object.metadata.name),
  );

  for (const manifest of ordered) {
    await turn(tools);
    const { apiVersion, kind, metadata } = manifest.object;
    const served = await kinds.find(manifest.object);
    if (served && !namespaces.has(metadata.namespace ?? '')) {
      const accepted = await write(manifest, served, tools, true);
      for (const one of kindsBroughtBy(accepted)) brought.add(one);
    } else if (!served && !brought.has(`${apiVersion} ${kind}`)) throw new Error(await kinds.objection(manifest));
  }
  const all: AppliedObject[] = [];
  for (const manifest of ordered) {
    await turn(tools);
    const served = await servedSoon(manifest, kinds, tools);
    const before = await existing(served, manifest, tools);
    const object = await write(manifest, served, tools, false);
    const did = before ? (isSame(before, object) ? 'unchanged' : 'changed') : 'created';
    const applied: AppliedObject = { kind: served, object, did };
    tools.applied(applied);
    all.push(applied);
  }
  return all;
}

/** A cluster in this process answers without ever waiting: signals and the requests of others would not be heard. */
const turn = ({ clock, signal }: ApplyTools) => sleep(clock, 0, signal);

/** Whether two states of an object say the same of what is wanted. Controllers may write its status at the same time. */
function isSame(before: KubernetesObject, after: KubernetesObject): boolean {
  const [one, other] = [before, after].map((object) => {
    const metadata = { ...object.metadata, resourceVersion: undefined, managedFields: undefined };
    return { ...object, metadata, status: undefined };
  });
  return isDeepStrictEqual(one, other);
}

/** `example.com/v1 Widget`: the kinds that a definition will bring. */
function kindsBroughtBy(accepted: KubernetesObject): readonly string[] {
  if (!isDefinition(accepted)) return [];
  const { group, names, versions } = accepted.spec;
  return versions.map(({ name }) => `${group}/${name} ${names.kind}`);
}

/** True of what the server has accepted as one. */
const isDefinition = (object: KubernetesObject): object is CustomResourceDefinition =>
  object.kind === 'CustomResourceDefinition';

async function servedSoon(manifest: Manifest, kinds: ServedKinds, { clock, signal }: ApplyTools): Promise<Kind> {
  const deadline = clock.monotonic() + SERVED_WITHIN_MS;
  for (;;) {
    const served = await kinds.find(manifest.object);
    if (served) return served;
    if (clock.monotonic() > deadline) throw new Error(await kinds.objection(manifest));
    await sleep(clock, 50, signal);
  }
}

async function existing(kind: Kind, { object }: Manifest, { client, signal }: ApplyTools) {
  try {
    return await client.get(kind, placed(kind, object).metadata, { signal });
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}

async function write({ object, at }: Manifest, kind: Kind, { client, signal }: ApplyTools, dryRun: boolean) {
  try {
    const options = { fieldManager: FIELD_MANAGER, force: true, fieldValidation: 'Strict', dryRun, signal } as const;
    return await client.apply(kind, annotated(placed(kind, object)), options);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw new Error(`${at}: ${object.kind} ${object.metadata.name} is refused: ${error.explanation}`, { cause: error });
  }
}

function annotated(object: KubernetesObject): KubernetesObject {
  const annotations = { ...object.metadata.annotations, ...LAST_APPLIED };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

/** What has a namespace and names none goes into the usual one. */
export function placed(kind: Kind, object: KubernetesObject, usual = 'default'): KubernetesObject {
  const { namespace = usual } = object.metadata;
  return kind.namespaced ? { ...object, metadata: { ...object.metadata, namespace } } : object;
}
