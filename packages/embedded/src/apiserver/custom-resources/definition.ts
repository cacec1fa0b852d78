import { apiVersionOf } from '@polder/kube';
import type { BuiltinKind } from '../builtin/index.ts';
import { compareVersions } from '../discovery/index.ts';
import { definitions } from '../openapi/index.ts';
import { type Crd, crdFrom, crdKinds, validateCrd } from '../schema/index.ts';
import type { ServedKind } from '../served-kind.ts';
import { type Conversion, renaming, resourceOf, type ServedResource } from '../served-kinds.ts';
import { isForAllKinds } from '../verbs/finish.ts';
import type { WebhookCaller } from '../webhooks/index.ts';
import { webhookConversion } from './conversion.ts';

/** The kind of definitions itself, with the rules that its schema cannot say. */
export function withDefinitionRules(kind: BuiltinKind): BuiltinKind {
  if (kind.kind !== 'CustomResourceDefinition') return kind;
  return {
    ...kind,
    validate: (object, old) => [
      ...(kind.validate?.(object, old) ?? []).filter(isForAllKinds),
      ...validateCrd(crdFrom(object), old && crdFrom(old)),
    ],
  };
}

/** What a definition lets the server serve: a resource for each served version. */
export function servedBy(crd: Crd, webhooks: WebhookCaller): readonly ServedResource[] {
  const { group = '', versions = [], conversion } = crd.spec;
  const stored = versions.find(({ storage }) => storage)?.name ?? '';
  const storageVersion = apiVersionOf({ group, version: stored });
  const converting: Conversion =
    conversion?.strategy === 'Webhook'
      ? webhookConversion(storageVersion, conversion.webhook ?? {}, webhooks)
      : renaming(storageVersion);
  return crdKinds(crd, definitions).map((kind) => {
    const version = versions.find(({ name }) => name === kind.version);
    return {
      kind,
      resource: resourceOf(kind),
      apiVersion: apiVersionOf(kind),
      selectableFields: (version?.selectableFields ?? []).map(({ jsonPath = '' }) => jsonPath.replace(/^\./, '')),
      hasGeneration: true,
      allowsUnconditionalUpdate: false,
      allowsCreateOnUpdate: false,
      keepsFirstStatus: false,
      returnsDeleted: false,
      prepare: (object) => object,
      complete: (object) => object,
      conversion: converting,
      ...(version?.deprecated === true && {
        deprecation: version.deprecationWarning ?? deprecation(crd, kind),
      }),
    };
  });
}

/** Names the version to go to: the newest one that is served and not deprecated, if it is newer. */
function deprecation({ spec }: Crd, kind: ServedKind): string {
  const message = `${apiVersionOf(kind)} ${kind.kind} is deprecated`;
  const [newest] = (spec.versions ?? [])
    .filter(({ served, deprecated }) => served && deprecated !== true)
    .map(({ name }) => name)
    .toSorted(compareVersions);
  if (newest === undefined || compareVersions(newest, kind.version) >= 0) return message;
  return `${message}; use ${apiVersionOf({ group: kind.group, version: newest })} ${kind.kind}`;
}
