import { isObject, type JsonSchema } from './schema.ts';

/** A CustomResourceDefinition as a user writes it: everything that can be forgotten is optional, validation asks for it. */
export interface Crd {
  readonly metadata: {
    readonly name: string;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly [field: string]: unknown;
  };
  readonly spec: CrdSpec;
  readonly status?: CrdStatus;
  readonly [field: string]: unknown;
}

export interface CrdSpec {
  readonly group?: string;
  readonly scope?: string;
  readonly names?: CrdNames;
  readonly versions?: readonly CrdVersion[];
  readonly conversion?: CrdConversion;
  readonly preserveUnknownFields?: boolean;
}

export interface CrdNames {
  readonly plural?: string;
  readonly singular?: string;
  readonly kind?: string;
  readonly listKind?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
}

export interface CrdVersion {
  readonly name: string;
  readonly served?: boolean;
  readonly storage?: boolean;
  readonly deprecated?: boolean;
  readonly deprecationWarning?: string;
  readonly schema?: { readonly openAPIV3Schema?: JsonSchema };
  readonly subresources?: CrdSubresources;
  readonly additionalPrinterColumns?: readonly CrdColumn[];
  readonly selectableFields?: readonly { readonly jsonPath?: string }[];
}

export interface CrdSubresources {
  readonly status?: Readonly<Record<string, never>>;
  readonly scale?: {
    readonly specReplicasPath?: string;
    readonly statusReplicasPath?: string;
    readonly labelSelectorPath?: string;
  };
}

export interface CrdColumn {
  readonly name?: string;
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
  readonly jsonPath?: string;
}

export interface CrdConversion {
  readonly strategy?: string;
  readonly webhook?: {
    readonly conversionReviewVersions?: readonly string[];
    readonly clientConfig?: {
      readonly url?: string;
      readonly service?: {
        readonly name?: string;
        readonly namespace?: string;
        readonly path?: string;
        readonly port?: number;
      };
      readonly caBundle?: string;
    };
  };
}

export interface CrdStatus {
  readonly storedVersions?: readonly string[];
  readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  readonly [field: string]: unknown;
}

/** An object that came over the wire as a CustomResourceDefinition; the kind's own schema has seen to the types. */
export function crdFrom(object: unknown): Crd {
  if (!isCrd(object)) throw new TypeError('a definition is no object');
  return object;
}

const isCrd = (object: unknown): object is Crd => isObject(object);

/** What the server fills in before it validates. */
export function withCrdDefaults(crd: Crd): Crd {
  const { spec, status } = crd;
  const { names = {} } = spec;
  const kind = names.kind ?? '';
  const stored = spec.versions?.find(({ storage }) => storage)?.name;
  const hasStored = (status?.storedVersions?.length ?? 0) > 0;
  return {
    ...crd,
    spec: {
      ...spec,
      names: {
        ...names,
        ...(!names.singular && { singular: kind.toLowerCase() }),
        ...(!names.listKind && kind !== '' && { listKind: `${kind}List` }),
      },
      conversion: withServicePort(spec.conversion ?? { strategy: 'None' }),
    },
    ...(!hasStored && stored !== undefined && { status: { ...status, storedVersions: [stored] } }),
  };
}

function withServicePort(conversion: CrdConversion): CrdConversion {
  const { webhook } = conversion;
  const service = webhook?.clientConfig?.service;
  if (service === undefined || service.port !== undefined) return conversion;
  return {
    ...conversion,
    webhook: { ...webhook, clientConfig: { ...webhook?.clientConfig, service: { ...service, port: 443 } } },
  };
}
