import { asWire, textOf, valueAt, withValueAt } from '../object-text.ts';
import { isObject, type Json } from '../schema/schema.ts';
import { asStructured, printLabelSelector } from '../selectors/index.ts';
import type { ScalePaths, WireObject } from '../served-kind.ts';
import { badRequest, invalid, noSuchPath } from '../status.ts';
import type { Entry } from '../watch/index.ts';
import type { Call } from './call.ts';
import type { Body } from './decode.ts';
import { tracked } from './finish.ts';
import { writeOptions } from './options.ts';
import { type PatchType, patched } from './patch.ts';
import { get } from './read.ts';
import { revise } from './update.ts';

/** The one number of an object that autoscalers and `kubectl scale` know, whatever the kind calls it. */
export async function getScale(call: Call): Promise<Entry> {
  const entry = await get(call);
  return scaleEntry(entry, pathsOf(call));
}

export async function updateScale(call: Call, body: Body): Promise<Entry> {
  return writeScale(call, 'UpdateOptions', () => body.value);
}

export async function patchScale(call: Call, type: PatchType, body: Body): Promise<Entry> {
  if (type === 'apply' || type === 'strategic') throw badRequest(`a scale cannot be patched by ${type}`);
  return writeScale(call, 'PatchOptions', (live) => patched(call, type, body.value, live));
}

async function writeScale(
  call: Call,
  kind: 'UpdateOptions' | 'PatchOptions',
  wanted: (live: Readonly<Record<string, Json>>) => Json,
): Promise<Entry> {
  const options = writeOptions(call, kind);
  const paths = pathsOf(call);
  const entry = await revise(call, options, (live) => {
    const json: Json = JSON.parse(scaleEntry({ key: '', revision: 0, object: live, text: '' }, paths).text);
    const scale = wanted(isObject(json) ? json : {});
    const replicas = valueAt(scale, ['spec', 'replicas']) ?? 0;
    checkReplicas(call, replicas);
    const version = valueAt(scale, ['metadata', 'resourceVersion']);
    const metadata = { ...live.metadata, resourceVersion: typeof version === 'string' ? version : '' };
    return {
      wanted: asWire(withValueAt({ ...live, metadata }, split(paths.specReplicasPath), replicas)),
      own: (before, object) => tracked(call, before, object, options.fieldManager),
    };
  });
  return scaleEntry(entry, paths);
}

function checkReplicas(call: Call, replicas: unknown): void {
  if (typeof replicas === 'number' && replicas >= 0) return;
  throw invalid({ group: 'autoscaling', plural: 'scales', kind: 'Scale' }, call.name ?? '', [
    { type: 'Invalid', field: 'spec.replicas', value: replicas, detail: 'must be greater than or equal to 0' },
  ]);
}

function pathsOf({ served }: Call): ScalePaths {
  const { scale } = served.kind.subresources;
  if (scale === undefined) throw noSuchPath();
  return scale;
}

function scaleEntry(entry: Entry, paths: ScalePaths): Entry {
  const { object } = entry;
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const replicas = valueAt(object, split(paths.specReplicasPath));
  const scale: WireObject = {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, ...(namespace !== undefined && { namespace }), uid, resourceVersion, creationTimestamp },
    // Go leaves a zero out.
    spec: replicas ? { replicas } : {},
    status: { replicas: valueAt(object, split(paths.statusReplicasPath)) ?? 0, ...selectorOf(object, paths) },
  };
  return { ...entry, object: scale, text: textOf(scale) };
}

/** A text in custom resources, a structure in built-in kinds. */
function selectorOf(object: WireObject, { labelSelectorPath }: ScalePaths): { selector?: string } {
  const selector = labelSelectorPath === undefined ? undefined : valueAt(object, split(labelSelectorPath));
  if (typeof selector === 'string') return { selector };
  if (!isObject(selector)) return {};
  return { selector: printLabelSelector(asStructured(selector)) };
}

const split = (path: string) => path.replace(/^\./, '').split('.');
