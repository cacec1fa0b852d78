import { listAt, numberAt, objectAt, objectsAt, textAt } from '../builtin/fields.ts';
import { asStructured, printLabelSelector } from '../selectors/index.ts';
import type { Column, WireObject } from '../served-kind.ts';
import { since } from './human-duration.ts';

export type Cell = Column['cell'];

/** A column that is always shown. */
export function column(name: string, cell: Cell, type: Column['type'] = 'string'): Column {
  return { name, type, description: name, priority: 0, cell };
}

/** A column for `-o wide`. */
export const wide = (name: string, cell: Cell): Column => ({ ...column(name, cell), priority: 1 });

export const NAME: Column = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description: 'The name of the object, unique among its kind in its namespace.',
  priority: 0,
  cell: ({ metadata }) => metadata.name,
};

export const AGE: Column = column('Age', ({ metadata }, now) => since(metadata.creationTimestamp, now));

/** What the real server shows of kinds that it has no columns for: kubectl turns the date into an age. */
export const CREATED_AT: Column = column('Created At', ({ metadata }) => metadata.creationTimestamp, 'date');

/** A custom resource without columns of its own. */
export const CUSTOM_AGE: Column = { ...AGE, type: 'date' };

/** The text at a path, or what stands for nothing. */
export const textCell =
  (path: readonly string[], empty = ''): Cell =>
  (object) =>
    textAt(object, ...path) || empty;

/** The number at a path; absent is zero, as Go has it. */
export const countCell =
  (...path: readonly string[]): Cell =>
  (object) =>
    numberAt(object, ...path) ?? 0;

export const joined = (texts: readonly unknown[], empty = '<none>') => (texts.length === 0 ? empty : texts.join(','));

/** `web=a,tier=b`. */
export function labelsText(object: unknown, ...path: readonly string[]): string {
  return printLabelSelector(asStructured(objectAt(object, ...path))) || '<none>';
}

/** Names, images and selector of a workload's pods. */
export function podColumns(...template: readonly string[]): readonly Column[] {
  const containers = (object: WireObject) => objectsAt(object, ...template, 'spec', 'containers');
  return [
    wide('Containers', (object) =>
      containers(object)
        .map((container) => textAt(container, 'name'))
        .join(','),
    ),
    wide('Images', (object) =>
      containers(object)
        .map((container) => textAt(container, 'image'))
        .join(','),
    ),
  ];
}

export const selectorColumn = wide('Selector', (object) => labelsText(object, 'spec', 'selector'));

const ACCESS_MODES: Readonly<Record<string, string>> = {
  ReadWriteOnce: 'RWO',
  ReadOnlyMany: 'ROX',
  ReadWriteMany: 'RWX',
  ReadWriteOncePod: 'RWOP',
};

/** `RWO,ROX`, in the real server's order. */
export function accessModes(object: unknown, ...path: readonly string[]): string {
  const modes = listAt(object, ...path).map(String);
  return Object.keys(ACCESS_MODES)
    .filter((mode) => modes.includes(mode))
    .map((mode) => ACCESS_MODES[mode])
    .join(',');
}
