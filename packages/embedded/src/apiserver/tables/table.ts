import type { Column, ServedKind, WireObject } from '../served-kind.ts';
import { NAME } from './columns.ts';

/** What a row carries of its object: nothing, its metadata (what kubectl asks for), or all of it. */
export type IncludeObject = 'None' | 'Metadata' | 'Object';

export interface Table {
  readonly kind: 'Table';
  readonly apiVersion: 'meta.k8s.io/v1';
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly columnDefinitions: readonly ColumnDefinition[];
  readonly rows: readonly Row[];
}

export interface ColumnDefinition {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  readonly priority: number;
}

export interface Row {
  readonly cells: readonly unknown[];
  readonly object: unknown;
}

/** Objects as `kubectl get` shows them. A single object's table has its version; a list's metadata is the caller's. */
export function table(
  kind: ServedKind,
  objects: readonly WireObject[],
  now: number,
  includeObject: IncludeObject = 'Metadata',
): Table {
  const columns = withName(kind.columns);
  const [only] = objects;
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata: objects.length === 1 && only ? { resourceVersion: only.metadata.resourceVersion } : {},
    columnDefinitions: columns.map(({ name, type, format, description, priority }) => ({
      name,
      type,
      format: format ?? '',
      description,
      priority,
    })),
    rows: objects.map((object) => ({
      cells: columns.map(({ cell }) => cell(object, now)),
      object: included(object, includeObject),
    })),
  };
}

/** The name comes first, unless a kind puts it elsewhere (events do). */
function withName(columns: readonly Column[]): readonly Column[] {
  return columns.some(({ name }) => name === NAME.name) ? columns : [NAME, ...columns];
}

function included(object: WireObject, includeObject: IncludeObject): unknown {
  if (includeObject === 'None') return null;
  if (includeObject === 'Object') return object;
  return { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: object.metadata };
}
