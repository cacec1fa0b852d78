/** `source.postgresql` of a flow, its secrets resolved. */
export interface PostgresSourceConfig {
  readonly connectionString: string;
  /** `table` or `schema.table`. Needed unless there is a query. */
  readonly table?: string;
  /** Read instead of the table. Only with `changeTrackingColumn` is it read on from where it was; otherwise anew at each poll. */
  readonly query?: string;
  /** Seconds between polls. Default 5. */
  readonly pollInterval?: number;
  /** At most so many rows at a poll. 0, the default: all there are. */
  readonly readBatchSize?: number;
  /** Grows whenever a row changes. Default `updated_at`, or `orderByColumn` if the table has no such column. */
  readonly changeTrackingColumn?: string;
  /** Tells rows apart that changed at the same time. Default `id`, or the primary key if the table has no such column. */
  readonly orderByColumn?: string;
  readonly autoCreateTable?: boolean;
}

/** `sink.postgresql` of a flow, its secrets resolved. How messages are gathered into batches is the pipeline's business. */
export interface PostgresSinkConfig {
  readonly connectionString: string;
  /** `table` or `schema.table`. */
  readonly table: string;
  readonly autoCreateTable?: boolean;
  readonly upsertMode?: boolean;
  /** One column, or several with commas between. Default: the primary key of the table. */
  readonly conflictKey?: string;
  readonly upsertStrategy?: 'always' | 'ifNewer';
  /** Needed for `ifNewer`. */
  readonly upsertVersionColumn?: string;
  /** Deletes set it instead of removing the row. */
  readonly softDeleteColumn?: string;
  /** The whole body into `data`, the metadata into `_metadata`. */
  readonly rawMode?: boolean;
  /** With `rawMode`: a column for each key of the metadata instead of `_metadata`. */
  readonly flattenMetadataColumns?: boolean;
  readonly flattenMetadataColumnsPrefix?: string;
}
