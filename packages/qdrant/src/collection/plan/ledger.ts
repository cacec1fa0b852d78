import type { QdrantCollection } from '../../kinds/index.ts';
import type { Observed } from '../observe.ts';
import { thiefOf } from './aliases.ts';
import type { Drift } from './drift.ts';

/**
 * What is ours of a collection, as the status remembers it: only that is ever taken away again. It is written down before
 * anything is made, so that whoever comes after a crash knows whose it is.
 */
export interface Ledger {
  readonly origin: 'Created' | 'Adopted' | undefined;
  /** In which cluster. In another one, or in one that was made anew, something else may have the name. */
  readonly clusterUID: string | undefined;
  readonly aliases: readonly string[];
  readonly payloadIndexes: readonly PayloadIndex[];
}

export interface PayloadIndex {
  readonly field: string;
  readonly type: string;
}

export function ledgerOf(collection: QdrantCollection, observed: Observed, drift: Drift): Ledger {
  const before = recorded(collection, observed);
  if (!observed.server.known) return written(collection);
  const { collection: seen, aliases } = observed.server.value;
  // One that exists and can't become what the spec says is somebody else's, of the same name.
  const found = !seen ? 'Created' : drift.immutable.length === 0 ? 'Adopted' : undefined;
  const origin = before.origin ?? found;
  if (origin === undefined) return before;
  const { name } = collection.metadata;
  const { spec } = collection;
  const declared = (spec.aliases ?? []).filter((alias) => thiefOf(alias, collection, observed) === undefined);
  const leftAliases = before.aliases.filter((alias) => !declared.includes(alias) && aliases.get(alias) === name);
  const indexes = spec.payloadIndexes ?? [];
  // One of another type is somebody else's until it is gone.
  const taken = indexes.filter(({ field, type }) => {
    const there = seen?.indexes.get(field);
    return there === undefined || there === type || before.payloadIndexes.some((one) => one.field === field);
  });
  const leftIndexes = before.payloadIndexes.filter(
    ({ field }) => !indexes.some((one) => one.field === field) && seen?.indexes.has(field),
  );
  const byField = new Map([...leftIndexes, ...taken].map(({ field, type }) => [field, { field, type }]));
  return {
    origin,
    clusterUID: observed.cluster?.metadata.uid,
    aliases: [...new Set([...declared, ...leftAliases])].toSorted(),
    payloadIndexes: [...byField.values()].toSorted((a, b) => (a.field < b.field ? -1 : 1)),
  };
}

const written = ({ status }: QdrantCollection): Ledger => ({
  origin: status?.origin,
  clusterUID: status?.clusterUID,
  aliases: status?.aliases ?? [],
  payloadIndexes: status?.payloadIndexes ?? [],
});

/** What is written down of the cluster that there is now. */
export function recorded(collection: QdrantCollection, { cluster }: Observed): Ledger {
  const ledger = written(collection);
  const isSame = ledger.clusterUID !== undefined && ledger.clusterUID === cluster?.metadata.uid;
  return isSame ? ledger : { origin: undefined, clusterUID: undefined, aliases: [], payloadIndexes: [] };
}
