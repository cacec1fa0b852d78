import type { KubernetesObject } from '../kinds/index.ts';

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

export interface WriteOptions extends CallOptions {
  readonly subresource?: 'status' | 'finalize' | undefined;
  /** Names the writer in `managedFields`; by default the API server takes the first word of the user agent. */
  readonly fieldManager?: string | undefined;
  /** What to do with fields the kind does not know; the API server's default is to warn. */
  readonly fieldValidation?: 'Strict' | 'Warn' | 'Ignore' | undefined;
  /** Everything but the writing. */
  readonly dryRun?: boolean | undefined;
}

/** What stands below an object, without metadata: it has those of the object. */
export type Below =
  | { readonly subresource: 'binding'; readonly apiVersion: 'v1'; readonly kind: 'Binding'; readonly target: object }
  | {
      readonly subresource: 'eviction';
      readonly apiVersion: 'policy/v1';
      readonly kind: 'Eviction';
      readonly deleteOptions?: object;
    };

export interface ApplyOptions extends WriteOptions {
  readonly fieldManager: string;
  /** Take over fields that others own. A controller should: it is the one who knows. */
  readonly force?: boolean | undefined;
}

export interface SelectOptions extends CallOptions {
  /** All namespaces without it. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
}

export interface ListOptions extends SelectOptions {
  readonly limit?: number | undefined;
  readonly continue?: string | undefined;
  readonly resourceVersion?: string | undefined;
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan' | undefined;
}

export interface WatchOptions extends SelectOptions {
  readonly resourceVersion?: string | undefined;
  readonly timeoutSeconds?: number | undefined;
  readonly allowWatchBookmarks?: boolean | undefined;
  /** Everything that exists first, then a bookmark with the annotation `k8s.io/initial-events-end`. */
  readonly sendInitialEvents?: boolean | undefined;
  /** Leave out `metadata.managedFields`. */
  readonly slim?: boolean | undefined;
  /** The server has agreed to tell. The first batch may be a minute away. */
  readonly onOpen?: (() => void) | undefined;
}

export interface DeleteOptions extends CallOptions {
  /** Delete only this very object, or only this version of it. */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string } | undefined;
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan' | undefined;
  readonly gracePeriodSeconds?: number | undefined;
  readonly dryRun?: boolean | undefined;
}

export interface LogOptions extends CallOptions {
  readonly container?: string | undefined;
  readonly follow?: boolean | undefined;
  readonly previous?: boolean | undefined;
  readonly tailLines?: number | undefined;
  readonly sinceSeconds?: number | undefined;
  readonly timestamps?: boolean | undefined;
}

export interface List<T> {
  readonly metadata: {
    readonly resourceVersion: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
  readonly items: readonly T[];
}

/** An object that does not exist yet: its name may be left to the server (`generateName`), its status is not ours to say. */
export type NewObject<T extends KubernetesObject> = Omit<T, 'metadata' | 'apiVersion' | 'kind' | 'status'> & {
  readonly metadata: Partial<T['metadata']>;
};

/** What an apply owns: a part of an object, down to any depth, and which object it is. */
export type Applied<T extends KubernetesObject> = {
  readonly [Field in Exclude<keyof T, 'metadata'>]?: DeepPartial<T[Field]>;
} & { readonly metadata: Partial<T['metadata']> & { readonly name: string } };

type DeepPartial<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { readonly [K in keyof T]?: DeepPartial<T[K]> }
    : T;

export type Patch =
  | { readonly type: 'json'; readonly operations: readonly JsonPatchOperation[] }
  | { readonly type: 'merge' | 'strategic'; readonly body: object };

export type JsonPatchOperation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'move' | 'copy'; readonly from: string; readonly path: string };
