import type { Situation } from './situation.ts';
import type { CollectionStep } from './step.ts';

/** An index of another type is deleted first; the next pass finds it missing. */
export function indexing({ collection, seen, ledger, via }: Situation): readonly CollectionStep[] {
  if (!seen || !via) return [];
  const { name } = collection.metadata;
  const declared = collection.spec.payloadIndexes ?? [];
  const changes = declared.flatMap(({ field, type }): CollectionStep[] => {
    const there = seen.indexes.get(field);
    if (there === type) return [];
    const told = { via, collection: name, field } as const;
    return there === undefined
      ? [{ do: 'create-index', because: `there is no index of ${field}`, ...told, type }]
      : [{ do: 'delete-index', because: `the index of ${field} is of type ${there}, and ${type} is wanted`, ...told }];
  });
  const left = ledger.payloadIndexes
    .filter(({ field }) => !declared.some((one) => one.field === field) && seen.indexes.has(field))
    .map(({ field }): CollectionStep => {
      const because = `spec.payloadIndexes does not name ${field} any more`;
      return { do: 'delete-index', because, via, collection: name, field };
    });
  return [...changes, ...left];
}
