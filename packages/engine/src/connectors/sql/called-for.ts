import type { Message } from '../../message.ts';
import { type ColumnType, inferColumns } from './column-types.ts';
import { rowOf } from './row.ts';

/** As the configuration of a sink has it. */
interface Written {
  readonly rawMode?: boolean | undefined;
  readonly flattenMetadataColumns?: boolean | undefined;
  readonly flattenMetadataColumnsPrefix?: string | undefined;
}

export interface CalledFor {
  readonly body: ReadonlyMap<string, ColumnType | undefined>;
  readonly metadata: ReadonlyMap<string, ColumnType | undefined>;
}

/** The columns that the bodies and the metadata of a batch call for. What is no JSON calls for none. */
export function columnsCalledFor(batch: readonly Message[], written: Written): CalledFor {
  const { rawMode = false, flattenMetadataColumns, flattenMetadataColumnsPrefix: metadataPrefix = '' } = written;
  const form = {
    isWhole: rawMode,
    metadata: flattenMetadataColumns ? ('columns' as const) : ('none' as const),
    metadataPrefix,
  };
  const rows = batch
    .filter(({ payload }) => payload?.json !== undefined)
    .map((message) => rowOf(message, form))
    .filter((row) => 'fields' in row);
  return {
    body: inferColumns(rows.map((row) => row.fields)),
    metadata: inferColumns(rows.map((row) => row.metadata?.fields ?? new Map<string, string>())),
  };
}
