import type { FieldError } from '../status.ts';
import { child, indexed, invalidValue, keyed, required } from './field-errors.ts';
import {
  dns1035LabelErrors,
  dns1123LabelErrors,
  labelValueErrors,
  pathSegmentErrors,
  qualifiedNameErrors,
} from './names.ts';
import { isObject, type JsonObject, type Schema } from './schema.ts';

/** The type and metadata of whole objects inside an object (`x-kubernetes-embedded-resource`). */
export function validateEmbeddedResources(schema: Schema, value: unknown, path = ''): readonly FieldError[] {
  if (Array.isArray(value)) {
    const { items } = schema;
    return items ? value.flatMap((item, index) => validateEmbeddedResources(items, item, indexed(path, index))) : [];
  }
  if (!isObject(value)) return [];
  const own = schema.node['x-kubernetes-embedded-resource'] ? validateResource(value, path) : [];
  const inside = Object.entries(value).flatMap(([name, member]) => {
    const property = schema.property(name);
    if (!property) return [];
    const isDeclared = Object.hasOwn(schema.node.properties ?? {}, name);
    return validateEmbeddedResources(property, member, isDeclared ? child(path, name) : keyed(path, name));
  });
  return [...own, ...inside];
}

function validateResource(object: JsonObject, path: string): readonly FieldError[] {
  return [
    ...validateApiVersion(object, child(path, 'apiVersion')),
    ...validateKind(object, child(path, 'kind')),
    ...(isObject(object.metadata) ? validateMetadata(object.metadata, child(path, 'metadata')) : []),
  ];
}

function validateApiVersion({ apiVersion }: JsonObject, path: string): readonly FieldError[] {
  if (apiVersion === undefined) return [required(path)];
  if (typeof apiVersion !== 'string') return [invalidValue(path, apiVersion, 'must be a string')];
  if (apiVersion === '') return [invalidValue(path, apiVersion, 'must not be empty')];
  if (apiVersion.split('/').length <= 2) return [];
  return [invalidValue(path, apiVersion, `unexpected GroupVersion string: ${apiVersion}`)];
}

function validateKind({ kind }: JsonObject, path: string): readonly FieldError[] {
  if (kind === undefined) return [required(path)];
  if (typeof kind !== 'string') return [invalidValue(path, kind, 'must be a string')];
  if (kind === '') return [invalidValue(path, kind, 'must not be empty')];
  const errors = dns1035LabelErrors(kind.toLowerCase());
  if (errors.length === 0) return [];
  return [invalidValue(path, kind, `may have mixed case, but should otherwise match: ${errors.join(',')}`)];
}

function validateMetadata(metadata: JsonObject, path: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  const complain = (field: string, value: string, complaints: readonly string[]) =>
    errors.push(...complaints.map((says) => invalidValue(child(path, field), value, says)));
  const { name, namespace, labels, annotations } = metadata;
  if (typeof name === 'string') complain('name', name, pathSegmentErrors(name));
  if (typeof namespace === 'string' && namespace !== '') {
    complain('namespace', namespace, dns1123LabelErrors(namespace));
  }
  for (const [key, value] of Object.entries(isObject(labels) ? labels : {})) {
    complain('labels', key, qualifiedNameErrors(key));
    if (typeof value === 'string') complain('labels', value, labelValueErrors(value));
  }
  for (const key of Object.keys(isObject(annotations) ? annotations : {})) {
    complain('annotations', key, qualifiedNameErrors(key.toLowerCase()));
  }
  return errors;
}
