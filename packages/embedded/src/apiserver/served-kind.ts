import type { Schema } from './schema/schema.ts';
import type { FieldError } from './status.ts';

/**
 * Everything the server has to know about one kind in one version: the built-in ones are in `builtin/`, the others come
 * from CustomResourceDefinitions. Verbs, watch, discovery, OpenAPI and tables work from this description alone.
 */
export interface ServedKind {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly listKind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly schema: Schema;
  readonly subresources: {
    /** Spec and status are written apart: the main endpoint ignores status, `/status` ignores everything else. */
    readonly status: boolean;
    readonly scale?: ScalePaths;
  };
  /** Columns of `kubectl get` beside the name; see `tables/`. */
  readonly columns: readonly Column[];
  /** Whether unknown fields are kept (a CRD with preserve-unknown-fields at its root) is the schema's business. */
  readonly origin: 'builtin' | 'custom';
  /** Fills in what the schema's own defaults do not say. Returns a new object; never changes its argument. */
  readonly defaults?: (object: WireObject) => WireObject;
  /** What the schema cannot say: names, cross-field rules, immutable fields. `old` is there on update. */
  readonly validate?: (object: WireObject, old: WireObject | undefined) => readonly FieldError[];
}

export interface ScalePaths {
  /** JSON paths as a CRD writes them: `.spec.replicas`. */
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath?: string;
}

export interface Column {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  readonly format?: string;
  readonly description: string;
  /** 0 is always shown; higher ones with `-o wide`. */
  readonly priority: number;
  /** The cell of one object. CRD columns are compiled from their `jsonPath`. */
  readonly cell: (object: WireObject, now: number) => string | number | bigint | boolean | null;
}

/** An object as it is stored and sent: plain JSON with the fields that all have. */
export interface WireObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: WireMeta;
  readonly [field: string]: unknown;
}

export interface WireMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation?: number;
  readonly creationTimestamp: string;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly [field: string]: unknown;
}
