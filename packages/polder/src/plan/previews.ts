import {
  ApiError,
  isNotFound,
  type Kind,
  type KubernetesObject,
  keyOf,
  Namespace,
  type Product,
  type Registration,
  resourceNameOf,
  type Step,
  sentenceOf,
} from '@polder/kube';
import { type Manifest, nameOf, placed, ServedKinds } from '../manifests/index.ts';
import { changesBetween } from './changes.ts';
import { type Fate, type Forecast, type ManifestForecast, podsOf } from './forecast.ts';
import { PlannedWorld, type WantedObject, type WorldTools } from './planned-world.ts';
import { wouldBeApplied } from './would-be.ts';

export interface PreviewTools extends WorldTools {
  /** Where manifests go that name no namespace. */
  readonly namespace: string;
}

interface Wanted extends WantedObject {
  readonly manifest: Manifest;
  readonly fate: Fate;
}

/** What applying the manifests would do, and what the operators of these products would do then. Writes nothing. */
export async function previews(
  manifests: readonly Manifest[],
  products: readonly Product[],
  tools: PreviewTools,
): Promise<readonly ManifestForecast[]> {
  const newNamespaces = await missingNamespaces(manifests, tools);
  const wanted: Wanted[] = [];
  for (const manifest of manifests) wanted.push(await lookAt(manifest, newNamespaces, tools));
  const world = new PlannedWorld(wanted, tools);
  try {
    const forecasts: ManifestForecast[] = [];
    for (const one of wanted) forecasts.push(await forecastOf(one, products, world, newNamespaces, tools));
    return forecasts;
  } finally {
    await world.stop();
  }
}

/** Those that come with the manifests: what goes into them can't be tried on the server. */
async function missingNamespaces(manifests: readonly Manifest[], { client, signal }: PreviewTools) {
  const missing = new Set<string>();
  for (const { object } of manifests.filter((one) => one.object.kind === 'Namespace')) {
    const found = await client.get(Namespace, object.metadata, { signal }).catch(undefinedIfNotFound);
    if (!found) missing.add(object.metadata.name);
  }
  return missing;
}

async function lookAt(manifest: Manifest, newNamespaces: ReadonlySet<string>, tools: PreviewTools): Promise<Wanted> {
  const kinds = new ServedKinds(tools.client);
  const kind = await kinds.find(manifest.object);
  if (!kind) throw new Error(await kinds.objection(manifest));
  const object = placed(kind, manifest.object, tools.namespace);
  if (newNamespaces.has(object.metadata.namespace ?? '')) return { manifest, kind, object, fate: { is: 'created' } };
  const live = await tools.client.get(kind, object.metadata, tools).catch(undefinedIfNotFound);
  try {
    const would = await wouldBeApplied(kind, object, live, tools);
    return { manifest, kind, object: would, fate: fateOf(live, would) };
  } catch (error) {
    throw refused(`${manifest.at}: ${object.kind} ${object.metadata.name}`, error);
  }
}

async function forecastOf(
  { manifest, kind, object, fate }: Wanted,
  products: readonly Product[],
  world: PlannedWorld,
  newNamespaces: ReadonlySet<string>,
  tools: PreviewTools,
): Promise<ManifestForecast> {
  const itself = { name: nameOf(kind, object), fate, pods: podsOf(object, fate) };
  const head = { at: manifest.at, key: keyOf(object.metadata), itself };
  const forecasts: Forecast[] = [];
  const [steps, held, troubles]: [string[], string[], string[]] = [[], [], []];
  for (const { product, controller } of controllersOf(kind, products)) {
    const preview = await world.preview(controller, product, object);
    for (const one of preview.objects) {
      forecasts.push(await forecastOfObject(one, controller, product, newNamespaces, tools));
    }
    for (const step of preview.steps) {
      const removed = removedBy(step, object, controller.kinds);
      forecasts.push(...removed);
      if (removed.length === 0) steps.push(`${step.do}: ${step.because}`);
    }
    held.push(...preview.held.map(sentenceOf));
    const { summary } = preview;
    if (summary.is === 'stalled' || summary.is === 'unknown') troubles.push(summary.because);
  }
  return { ...head, objects: forecasts, steps, held, trouble: troubles[0] };
}

function controllersOf(kind: Kind, products: readonly Product[]) {
  return products.flatMap((product) =>
    product.controllers
      .filter((controller) => resourceNameOf(controller.kind) === resourceNameOf(kind))
      .map((controller) => ({ product, controller })),
  );
}

async function forecastOfObject(
  object: KubernetesObject,
  { kinds }: Registration,
  { fieldManager }: Product,
  newNamespaces: ReadonlySet<string>,
  { client, signal }: PreviewTools,
): Promise<Forecast> {
  const kind = kinds.find((one) => one.kind === object.kind);
  if (!kind) throw new Error(`a plan has an object of unknown kind ${object.kind}`);
  const name = nameOf(kind, object);
  const isNew = newNamespaces.has(object.metadata.namespace ?? '');
  const live = isNew ? undefined : await client.get(kind, object.metadata, { signal }).catch(undefinedIfNotFound);
  try {
    const options = { fieldManager, force: true, dryRun: true, signal };
    const fate = fateOf(live, isNew ? object : await client.apply(kind, object, options));
    return { name, fate, pods: podsOf(object, fate) };
  } catch (error) {
    throw refused(name, error);
  }
}

function fateOf(live: KubernetesObject | undefined, would: KubernetesObject): Fate {
  if (!live) return { is: 'created' };
  const changes = changesBetween(live, would);
  return changes.length === 0 ? { is: 'unchanged' } : { is: 'changed', changes };
}

/** A step that removes names what it removes, and carries it; perhaps beside the resource that it does so for. */
const REMOVAL = /^(?:remove|delete)\b/;

function removedBy(step: Step, resource: KubernetesObject, kinds: readonly Kind[]): readonly Forecast[] {
  if (!REMOVAL.test(step.do)) return [];
  const isItself = ({ kind, metadata }: KubernetesObject) =>
    kind === resource.kind && metadata.name === resource.metadata.name;
  return objectsIn(Object.values(step)).flatMap((object) => {
    const kind = isItself(object) ? undefined : kinds.find((one) => one.kind === object.kind);
    const fate: Fate = { is: 'deleted', because: step.because };
    return kind ? [{ name: nameOf(kind, object), fate, pods: podsOf(object, fate) }] : [];
  });
}

function objectsIn(values: readonly unknown[]): readonly KubernetesObject[] {
  return values.flatMap((value): readonly KubernetesObject[] => {
    if (typeof value !== 'object' || value === null) return [];
    return isKubernetesObject(value) ? [value] : objectsIn(Object.values(value));
  });
}

const isKubernetesObject = (value: object): value is KubernetesObject =>
  'kind' in value && 'metadata' in value && typeof value.metadata === 'object';

function refused(what: string, error: unknown): unknown {
  if (!(error instanceof ApiError)) return error;
  return new Error(`${what} would be refused: ${error.explanation}`, { cause: error });
}

function undefinedIfNotFound(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}
