/**
 * A CustomResourceDefinition itself. Rules, paths and words: `apiextensions-apiserver/pkg/apis/apiextensions/validation`.
 * What all versions have alike the real server moves to the top of the spec before it looks, hence paths such as
 * `spec.validation` and `spec.subresources` that no user has written.
 */
import { parseFieldPath } from '../cel/index.ts';
import type { FieldError } from '../status.ts';
import type { Crd, CrdColumn, CrdNames, CrdSubresources, CrdVersion } from './crd.ts';
import { validateConversion } from './crd-conversion.ts';
import { validateCrdSchema } from './crd-schema.ts';
import { sameJson } from './equality.ts';
import { child, duplicate, indexed, invalidValue, notSupported, required } from './field-errors.ts';
import { dns1035LabelErrors, dns1123SubdomainErrors } from './names.ts';
import { Schema } from './schema.ts';

/** The definition has been through `withCrdDefaults`. `old` is there on update. */
export function validateCrd(crd: Crd, old?: Crd): readonly FieldError[] {
  const { spec } = crd;
  return [
    ...(old === undefined ? validateName(crd) : []),
    ...validateGroup(spec.group ?? ''),
    ...validateScope(spec.scope ?? ''),
    ...validateVersions(spec.versions ?? []),
    ...validateNames(spec.names ?? {}),
    ...validateConversion(spec.conversion),
    ...(old === undefined ? [] : validateUpdate(crd, old)),
    ...validateStoredVersions(crd),
    ...(old === undefined ? validateApproval(crd) : []),
    ...(spec.preserveUnknownFields === true && old?.spec.preserveUnknownFields !== true ? [PRESERVES] : []),
  ];
}

const PRESERVES = invalidValue(
  'spec.preserveUnknownFields',
  true,
  'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
);

function validateName({ metadata, spec }: Crd): readonly FieldError[] {
  const complaints = [...dns1123SubdomainErrors(metadata.name)];
  if (metadata.name !== `${spec.names?.plural ?? ''}.${spec.group ?? ''}`) {
    complaints.push('must be spec.names.plural+"."+spec.group');
  }
  return complaints.map((says) => invalidValue('metadata.name', metadata.name, says));
}

function validateGroup(group: string): readonly FieldError[] {
  if (group === '') return [required('spec.group')];
  const complaints = dns1123SubdomainErrors(group);
  if (complaints.length > 0) return [invalidValue('spec.group', group, complaints.join(','))];
  return group.includes('.') ? [] : [invalidValue('spec.group', group, 'should be a domain with at least one dot')];
}

function validateScope(scope: string): readonly FieldError[] {
  if (scope === '') return [required('spec.scope')];
  const scopes = ['Cluster', 'Namespaced'];
  return scopes.includes(scope) ? [] : [notSupported('spec.scope', scope, scopes)];
}

/** Where a part of a version is found: at the top when all versions have the same. */
function placeOf(
  versions: readonly CrdVersion[],
  part: keyof CrdVersion,
  top: string,
): (index: number) => string | undefined {
  const [first] = versions;
  const isShared = first?.[part] !== undefined && versions.every((version) => sameJson(version[part], first[part]));
  if (!isShared) return (index) => `spec.versions[${index}].${part}`;
  return (index) => (index === 0 ? `spec.${top}` : undefined);
}

function validateVersions(versions: readonly CrdVersion[]): readonly FieldError[] {
  const errors: FieldError[] = [];
  const schemas = placeOf(versions, 'schema', 'validation');
  const subresources = placeOf(versions, 'subresources', 'subresources');
  const columns = placeOf(versions, 'additionalPrinterColumns', 'additionalPrinterColumns');
  const fields = placeOf(versions, 'selectableFields', 'selectableFields');
  for (const [index, version] of versions.entries()) {
    const path = indexed('spec.versions', index);
    const complaints = dns1035LabelErrors(version.name).join(',');
    if (complaints !== '') {
      errors.push(invalidValue(child(path, 'name'), version.name, complaints));
      if (index === 0) errors.push(invalidValue('spec.version', version.name, complaints));
    }
    errors.push(...validateDeprecation(version, child(path, 'deprecationWarning')));
    const schema = version.schema?.openAPIV3Schema;
    const schemaPath = schemas(index);
    if (schema === undefined) errors.push(required(child(path, 'schema.openAPIV3Schema')));
    else if (schemaPath !== undefined) {
      const hasStatus = version.subresources?.status !== undefined;
      errors.push(...validateCrdSchema(schema, child(schemaPath, 'openAPIV3Schema'), hasStatus));
    }
    errors.push(...validateScale(version.subresources, subresources(index)));
    errors.push(...validateColumns(version.additionalPrinterColumns ?? [], columns(index)));
    errors.push(...validateSelectableFields(version, fields(index)));
  }
  const quoted = versions.map((version) => goVersion(version, schemas(0) === 'spec.validation'));
  if (new Set(versions.map(({ name }) => name)).size < versions.length) {
    errors.push(invalidValue('spec.versions', quoted, 'must contain unique version names'));
  }
  if (versions.filter(({ storage }) => storage).length !== 1) {
    errors.push(invalidValue('spec.versions', quoted, 'must have exactly one version marked as storage version'));
  }
  return errors;
}

/** A version as the real server quotes it: its Go struct, without what moved to the top of the spec. */
const goVersion = (version: CrdVersion, isSchemaShared: boolean) => ({
  Name: version.name,
  Served: version.served ?? false,
  Storage: version.storage ?? false,
  Deprecated: version.deprecated ?? false,
  DeprecationWarning: version.deprecationWarning ?? null,
  Schema: isSchemaShared ? null : (version.schema ?? null),
  Subresources: null,
  AdditionalPrinterColumns: null,
  SelectableFields: null,
});

function validateDeprecation(
  { deprecated, deprecationWarning: text }: CrdVersion,
  path: string,
): readonly FieldError[] {
  if (text === undefined) return [];
  if (!deprecated) return [invalidValue(path, text, 'can only be set for deprecated versions')];
  const errors: FieldError[] = [];
  if (Buffer.byteLength(text) > 256) errors.push(invalidValue(path, text, 'must be <= 256 characters long'));
  if (text === '') errors.push(invalidValue(path, text, 'must not be an empty string'));
  const odd = Array.from(text).findIndex((character) => /\p{C}/u.test(character));
  if (odd >= 0) {
    const detail = `must only contain printable UTF-8 characters; non-printable character found at index ${odd}`;
    errors.push(invalidValue(path, text, detail));
  }
  return errors;
}

const COLUMN_TYPES = ['boolean', 'date', 'integer', 'number', 'string'];
const COLUMN_FORMATS = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];

function validateColumns(columns: readonly CrdColumn[], path: string | undefined): readonly FieldError[] {
  if (path === undefined) return [];
  return columns.flatMap(({ name = '', type = '', format = '', jsonPath = '' }, index) => {
    const at = (field: string) => child(indexed(path, index), field);
    const errors: FieldError[] = [];
    const types = `must be one of ${COLUMN_TYPES.join(',')}`;
    if (name === '') errors.push(required(at('name')));
    if (type === '') errors.push(required(at('type'), types));
    else if (!COLUMN_TYPES.includes(type)) errors.push(invalidValue(at('type'), type, types));
    if (format !== '' && !COLUMN_FORMATS.includes(format)) {
      errors.push(invalidValue(at('format'), format, `must be one of ${COLUMN_FORMATS.join(',')}`));
    }
    if (jsonPath === '') errors.push(required(at('JSONPath')));
    else if (!jsonPath.startsWith('.')) errors.push(invalidValue(at('JSONPath'), jsonPath, NO_PATH));
    return errors;
  });
}

const NO_PATH = 'must be a simple json path starting with .';

function validateScale(subresources: CrdSubresources | undefined, path: string | undefined): readonly FieldError[] {
  const scale = subresources?.scale;
  if (scale === undefined || path === undefined) return [];
  const check = (name: string, value: string | undefined, roots: readonly string[], where: string): FieldError[] => {
    const at = child(path, `scale.${name}`);
    if (value === undefined || value === '') return [required(at)];
    if (!value.startsWith('.')) return [invalidValue(at, value, NO_PATH)];
    return roots.some((root) => value.startsWith(root))
      ? []
      : [invalidValue(at, value, `should be a json path under ${where}`)];
  };
  const { specReplicasPath, statusReplicasPath, labelSelectorPath } = scale;
  return [
    ...check('specReplicasPath', specReplicasPath, ['.spec.'], '.spec'),
    ...check('statusReplicasPath', statusReplicasPath, ['.status.'], '.status'),
    ...(labelSelectorPath
      ? check('labelSelectorPath', labelSelectorPath, ['.spec.', '.status.'], 'either .spec or .status')
      : []),
  ];
}

const MOST_SELECTABLE = 8;

function validateSelectableFields(
  { selectableFields = [], schema }: CrdVersion,
  path: string | undefined,
): readonly FieldError[] {
  if (path === undefined || selectableFields.length === 0) return [];
  const root = new Schema(schema?.openAPIV3Schema ?? {});
  const seen = new Set<string>();
  const errors = selectableFields.flatMap(({ jsonPath = '' }, index): FieldError[] => {
    const at = child(indexed(path, index), 'jsonPath');
    if (jsonPath === '') return [required(at)];
    const target = jsonPath.includes('[') ? undefined : parseFieldPath(root, jsonPath);
    if (target === undefined) {
      const why = jsonPath.includes('[') ? 'array notation is not allowed' : 'does not refer to a valid field';
      return [invalidValue(at, jsonPath, `is an invalid path: ${why}`)];
    }
    const found: FieldError[] = [];
    if (/^metadata(?:\.|$)/.test(target.path)) {
      found.push(invalidValue(at, jsonPath, 'must not point to fields in metadata'));
    }
    if (!['string', 'boolean', 'integer'].includes(target.schema.node.type ?? '')) {
      const detail =
        'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.';
      found.push(invalidValue(at, jsonPath, detail));
    }
    if (seen.has(target.path)) found.push(duplicate(at, jsonPath));
    seen.add(target.path);
    return found;
  });
  if (seen.size <= MOST_SELECTABLE) return errors;
  const detail = `must have at most ${MOST_SELECTABLE} items`;
  return [...errors, { type: 'TooMany', field: path, value: seen.size, detail }];
}

function validateNames(names: CrdNames): readonly FieldError[] {
  const { plural = '', singular = '', kind = '', listKind = '', shortNames = [], categories = [] } = names;
  const missing = Object.entries({ plural, singular, kind, listKind }).filter(([, name]) => name === '');
  // Without a kind there is nothing to make these two of; the real server then asks for the kind alone.
  const asked = missing.filter(([field]) => kind !== '' || (field !== 'singular' && field !== 'listKind'));
  const errors = asked.map(([field]) => required(`spec.names.${field}`));
  const check = (field: string, name: string, isMixed = false) => {
    const complaints = dns1035LabelErrors(isMixed ? name.toLowerCase() : name).join(',');
    const detail = isMixed ? `may have mixed case, but should otherwise match: ${complaints}` : complaints;
    if (name !== '' && complaints !== '') errors.push(invalidValue(`spec.names.${field}`, name, detail));
  };
  check('plural', plural);
  check('singular', singular);
  check('kind', kind, true);
  check('listKind', listKind, true);
  for (const [index, name] of shortNames.entries()) check(`shortNames[${index}]`, name);
  for (const [index, name] of categories.entries()) check(`categories[${index}]`, name);
  if (kind !== '' && kind === listKind) {
    errors.push(invalidValue('spec.names.listKind', listKind, 'kind and listKind may not be the same'));
  }
  return errors;
}

function validateUpdate({ spec }: Crd, old: Crd): readonly FieldError[] {
  const isServed = old.status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True');
  return [
    ...(isServed ? fixed('spec.scope', spec.scope, old.spec.scope) : []),
    ...(isServed ? fixed('spec.names.kind', spec.names?.kind, old.spec.names?.kind) : []),
    ...fixed('spec.group', spec.group, old.spec.group),
    ...fixed('spec.names.plural', spec.names?.plural, old.spec.names?.plural),
  ];
}

const fixed = (path: string, value: unknown, before: unknown) =>
  value === before ? [] : [invalidValue(path, value, 'field is immutable')];

function validateStoredVersions({ spec, status }: Crd): readonly FieldError[] {
  const path = 'status.storedVersions';
  const stored = status?.storedVersions ?? [];
  const versions = spec.versions ?? [];
  if (stored.length === 0) return [invalidValue(path, null, 'must have at least one stored version')];
  const errors = versions
    .filter(({ name, storage }) => storage && !stored.includes(name))
    .map(({ name }) => invalidValue(path, stored, `must have the storage version ${name}`));
  for (const [index, name] of stored.entries()) {
    if (versions.some((version) => version.name === name)) continue;
    const detail = `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`;
    errors.push(invalidValue(indexed(path, index), name, detail));
  }
  return errors;
}

const APPROVED = 'api-approved.kubernetes.io';

/** Groups of the Kubernetes community need a word from it. */
function validateApproval({ spec, metadata }: Crd): readonly FieldError[] {
  if (!/(?:^|\.)(?:k8s|kubernetes)\.io$/.test(spec.group ?? '')) return [];
  const path = `metadata.annotations[${APPROVED}]`;
  const approval = metadata.annotations?.[APPROVED] ?? '';
  if (approval === '') {
    const detail = `protected groups must have approval annotation "${APPROVED}", see https://github.com/kubernetes/enhancements/pull/1111`;
    return [required(path, detail)];
  }
  if (approval.startsWith('unapproved') || /^https?:\/\/[^/]+/.test(approval)) return [];
  const detail = `protected groups must have approval annotation "${APPROVED}" with either a URL or a reason starting with "unapproved", see https://github.com/kubernetes/enhancements/pull/1111`;
  return [invalidValue(path, approval, detail)];
}
