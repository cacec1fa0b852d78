import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { BUILTIN_KINDS } from '../builtin/kinds.ts';
import type { ServedKind, WireObject } from '../served-kind.ts';
import { humanDuration } from './human-duration.ts';
import { type Table, table } from './table.ts';

/** Objects as a real server showed them; `tools/openapi/record.ts` writes this. */
interface Shown {
  readonly now: string;
  readonly table: Omit<Table, 'rows'> & {
    readonly rows: readonly { readonly cells: readonly unknown[]; readonly object: WireObject }[];
  };
}

const shown: readonly Shown[] = JSON.parse(readFileSync(new URL('./shown.gen.json', import.meta.url), 'utf8'));

function kindOf({ apiVersion, kind }: WireObject): ServedKind {
  const found = BUILTIN_KINDS.find(
    ({ group, version, kind: name }) =>
      name === kind && apiVersion === (group === '' ? version : `${group}/${version}`),
  );
  if (!found) throw new Error(`no ${apiVersion} ${kind}`);
  return found;
}

const cases = shown.flatMap(({ now, table }) =>
  table.rows.map(({ object, cells }) => ({
    now,
    table,
    object,
    cells,
    title: `${object.kind} ${object.metadata.name}`,
  })),
);

const columns = ({ columnDefinitions }: Pick<Table, 'columnDefinitions'>) =>
  columnDefinitions.map(({ name, type, format, priority }) => ({ name, type, format, priority }));

const deleting = (object: WireObject) => ({
  ...object,
  metadata: { ...object.metadata, deletionTimestamp: '2026-11-15T00:00:00Z' },
});

test.each(cases)('kubectl shows $title as the real server has it', ({ now, table: real, object, cells }) => {
  const ours = table(kindOf(object), [object], Date.parse(now), 'Object');
  expect(columns(ours)).toEqual(columns(real));
  expect(ours.rows[0]?.cells).toEqual(cells);
});

test('a pod that is being deleted is Terminating, unless it has ended', () => {
  const pod = cases.find(({ title }) => title === 'Pod running')?.object;
  const ended = cases.find(({ title }) => title === 'Pod completed')?.object;
  if (!pod || !ended) throw new Error('not recorded');
  const rows = table(kindOf(pod), [deleting(pod), deleting(ended)], 0).rows;
  expect(rows.map(({ cells }) => cells[2])).toEqual(['Terminating', 'Completed']);
});

test('a row carries as much of its object as was asked for', () => {
  const pod = cases.find(({ title }) => title === 'Pod running')?.object;
  if (!pod) throw new Error('not recorded');
  const objectIn = (...[include]: [('None' | 'Metadata' | 'Object')?]) =>
    table(kindOf(pod), [pod], 0, include).rows[0]?.object;
  expect(objectIn('None')).toBeNull();
  expect(objectIn('Object')).toBe(pod);
  expect(objectIn()).toEqual({ kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: pod.metadata });
});

test.each([
  [-5, '<invalid>'],
  [-1, '0s'],
  [0, '0s'],
  [119, '119s'],
  [120, '2m'],
  [125, '2m5s'],
  [599, '9m59s'],
  [600, '10m'],
  [3 * 3600 - 1, '179m'],
  [3 * 3600, '3h'],
  [3 * 3600 + 60, '3h1m'],
  [8 * 3600, '8h'],
  [47 * 3600, '47h'],
  [48 * 3600, '2d'],
  [50 * 3600, '2d2h'],
  [8 * 86_400, '8d'],
  [729 * 86_400, '729d'],
  [730 * 86_400, '2y'],
  [740 * 86_400, '2y10d'],
  [8 * 365 * 86_400, '8y'],
])('%d seconds are shown as %s', (seconds, text) => {
  expect(humanDuration(seconds * 1000)).toBe(text);
});
