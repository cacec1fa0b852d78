import { isNumeric } from '../exact-json.ts';
import type { ScalePaths, ServedKind } from '../served-kind.ts';
import type { FieldError } from '../status.ts';
import type { Crd, CrdSubresources, CrdVersion } from './crd.ts';
import { invalidValue } from './field-errors.ts';
import { compileJsonPath } from './json-path.ts';
import { printerColumns } from './printer-columns.ts';
import { type JsonSchema, Schema } from './schema.ts';

const VERBS = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];
const OBJECT_META = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';

/** The definitions that schemas of custom resources lean on: `metadata` is the same everywhere. */
export type Definitions = ReadonlyMap<string, JsonSchema>;

/** What a definition (defaulted and valid) lets the server serve: a kind for each served version. */
export function crdKinds(crd: Crd, definitions: Definitions = new Map()): readonly ServedKind[] {
  return (crd.spec.versions ?? [])
    .filter(({ served }) => served)
    .map((version) => servedKind(crd, version, definitions));
}

function servedKind({ spec }: Crd, version: CrdVersion, definitions: Definitions): ServedKind {
  const { plural = '', singular = '', kind = '', listKind = '', shortNames = [], categories = [] } = spec.names ?? {};
  const scale = scalePaths(version.subresources);
  return {
    group: spec.group ?? '',
    version: version.name,
    kind,
    listKind,
    plural,
    singular,
    shortNames,
    categories,
    namespaced: spec.scope === 'Namespaced',
    verbs: VERBS,
    schema: new Schema(resourceSchema(version.schema?.openAPIV3Schema ?? {}, definitions), definitions),
    subresources: { status: version.subresources?.status !== undefined, ...(scale && { scale }) },
    columns: printerColumns(version.additionalPrinterColumns),
    origin: 'custom',
    ...(scale && { validate: (object) => validateReplicas(object, scale) }),
  };
}

/** The author's schema with what every object has. Authors may narrow the names in `metadata`, nothing else there. */
function resourceSchema(schema: JsonSchema, definitions: Definitions): JsonSchema {
  const { apiVersion, kind, metadata } = schema.properties ?? {};
  const meta = definitions.get(OBJECT_META) ?? { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const narrowed = Object.entries(metadata?.properties ?? {}).map(([name, narrow]) => [
    name,
    { ...meta.properties?.[name], ...narrow },
  ]);
  const text: JsonSchema = { type: 'string' };
  return {
    ...schema,
    properties: {
      ...schema.properties,
      apiVersion: { ...text, ...apiVersion },
      kind: { ...text, ...kind },
      metadata:
        narrowed.length === 0
          ? { $ref: `#/components/schemas/${OBJECT_META}` }
          : { ...meta, properties: { ...meta.properties, ...Object.fromEntries(narrowed) } },
    },
  };
}

function scalePaths(subresources: CrdSubresources | undefined): ScalePaths | undefined {
  const { specReplicasPath, statusReplicasPath, labelSelectorPath } = subresources?.scale ?? {};
  if (!specReplicasPath || !statusReplicasPath) return undefined;
  return { specReplicasPath, statusReplicasPath, ...(labelSelectorPath && { labelSelectorPath }) };
}

/** Replicas that `kubectl scale` is to read must be a number it can hold. */
function validateReplicas(object: unknown, scale: ScalePaths): readonly FieldError[] {
  return [scale.specReplicasPath, scale.statusReplicasPath].flatMap((path): FieldError[] => {
    const value = compileJsonPath(path)?.(object)[0];
    if (!isNumeric(value)) return [];
    if (value < 0) return [invalidValue(path, value, 'should be a non-negative integer')];
    return value > 2 ** 31 - 1 ? [invalidValue(path, value, 'should be less than or equal to 2147483647')] : [];
  });
}
