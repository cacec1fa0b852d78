import type { ServedKind, WireObject } from './served-kind.ts';

/** A kind in one version, and how it hangs together with the other versions of the same resource. */
export interface ServedResource {
  readonly kind: ServedKind;
  /** `plural.group`: all versions of a resource share one place in storage. */
  readonly resource: string;
  readonly apiVersion: string;
  /** Beside name and namespace: what a CRD declares in `selectableFields`, without the leading dot. */
  readonly selectableFields: readonly string[];
  /** Whether a change of the desired state raises `metadata.generation`. */
  readonly hasGeneration: boolean;
  /** Whether an update without a version overwrites whatever is there. */
  readonly allowsUnconditionalUpdate: boolean;
  /** Whether an update of what is not there creates it. */
  readonly allowsCreateOnUpdate: boolean;
  /** Whether a status that is sent on create counts. Usually it is for nobody but its controller, later. */
  readonly keepsFirstStatus: boolean;
  /** Whether a deletion answers with the object instead of a Status. */
  readonly returnsDeleted: boolean;
  /** What is set on create, whatever was sent: the first status, finalizers. */
  prepare(object: WireObject): WireObject;
  /** What only the server can give on any write: the addresses of a service. */
  complete(object: WireObject, old: WireObject | undefined): WireObject;
  /** Sent as a warning with every answer of a deprecated version. */
  readonly deprecation?: string;
  readonly conversion: Conversion;
}

/** Between the version in storage and the one that is served. Most kinds have one version, and this is never called. */
export interface Conversion {
  readonly storageVersion: string;
  /** To `apiVersion`, keeping the order. */
  convert(objects: readonly WireObject[], apiVersion: string): Promise<readonly WireObject[]>;
}

/** What the server serves at this moment. CRDs come and go, so paths are looked up here, never wired. */
export class ServedKinds {
  readonly #byPath = new Map<string, ServedResource>();
  readonly #byResource = new Map<string, readonly ServedResource[]>();
  #list: readonly ServedKind[] | undefined;

  add(served: ServedResource): void {
    this.#byPath.set(pathOf(served.kind), served);
    this.#changed(served);
  }

  remove(served: ServedResource): void {
    this.#byPath.delete(pathOf(served.kind));
    this.#changed(served);
  }

  #changed({ resource }: ServedResource): void {
    const versions = [...this.#byPath.values()].filter((served) => served.resource === resource);
    this.#byResource.set(resource, versions);
    this.#list = undefined;
  }

  find(group: string, version: string, plural: string): ServedResource | undefined {
    return this.#byPath.get(pathOf({ group, version, plural }));
  }

  /** All versions of a resource, in the order in which it declares them. */
  versionsOf(resource: string): readonly ServedResource[] {
    return this.#byResource.get(resource) ?? [];
  }

  /** The same array until something changes: discovery and OpenAPI may cache by it. */
  get all(): readonly ServedKind[] {
    this.#list ??= [...this.#byPath.values()].map(({ kind }) => kind);
    return this.#list;
  }
}

const pathOf = ({ group, version, plural }: Pick<ServedKind, 'group' | 'version' | 'plural'>) =>
  `${group}/${version}/${plural}`;

export const resourceOf = (kind: Pick<ServedKind, 'group' | 'plural'>) =>
  kind.group === '' ? kind.plural : `${kind.plural}.${kind.group}`;

/** The object in the version that is served. */
export async function converted(
  { conversion, apiVersion }: Pick<ServedResource, 'conversion' | 'apiVersion'>,
  object: WireObject,
): Promise<WireObject> {
  if (object.apiVersion === apiVersion) return object;
  const [one = object] = await conversion.convert([object], apiVersion);
  return one;
}

/** Conversion that changes nothing but the name of the version. */
export function renaming(storageVersion: string): Conversion {
  return {
    storageVersion,
    convert: async (objects, apiVersion) => objects.map((object) => ({ ...object, apiVersion })),
  };
}
