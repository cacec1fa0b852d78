import type { Json } from '../json/index.ts';
import type { Answer } from './answer.ts';
import { IcebergError } from './trouble.ts';
import { type Schema, schemaOf } from './types.ts';

/** A table as its catalog tells it: the part of the metadata that readers and appenders need. */
export interface TableMetadata {
  readonly formatVersion: number;
  /** Another one: the table was dropped, and a new one has its name. */
  readonly uuid: string;
  readonly location: string;
  readonly lastSequenceNumber: bigint;
  readonly schema: Schema;
  readonly partitionSpec: PartitionSpec;
  /** Undefined: nothing was ever written. */
  readonly snapshot: Snapshot | undefined;
  readonly lastColumnId: number;
}

export interface PartitionSpec {
  readonly id: number;
  readonly fields: readonly PartitionField[];
}

export interface PartitionField {
  readonly sourceId: number;
  readonly id: number;
  readonly name: string;
  /** `identity`, `bucket[16]`, `truncate[4]`, `year`, `month`, `day`, `hour`, `void`. */
  readonly transform: string;
}

export interface Snapshot {
  readonly id: bigint;
  /** Counts the changes of the table. 0 for all of a table of format version 1. */
  readonly sequenceNumber: bigint;
  /** `append`, `replace`, `overwrite`, `delete`. */
  readonly operation: string;
  readonly manifestList: string;
  /** The numbers of the summary, such as `total-records`. */
  readonly summary: ReadonlyMap<string, string>;
}

/** What an Iceberg writer says for "no snapshot". */
const NO_SNAPSHOT = -1n;

export function tableMetadataOf(answer: Answer): TableMetadata {
  const current = answer.field('current-snapshot-id');
  const schemas = answer.field('schemas');
  const schemaId = schemas.isGiven ? answer.field('current-schema-id').int : undefined;
  const specId = answer.field('default-spec-id').int;
  const last = answer.field('last-sequence-number');
  return {
    formatVersion: answer.field('format-version').int,
    uuid: answer.field('table-uuid').text,
    location: answer.field('location').text.replace(/\/+$/, ''),
    lastSequenceNumber: last.isGiven ? last.long : 0n,
    schema: theOne(schemas.list.map(schemaOf), ({ id }) => id === schemaId, `schema ${schemaId}`),
    partitionSpec: theOne(
      answer.field('partition-specs').list.map(partitionSpecOf),
      ({ id }) => id === specId,
      `partition spec ${specId}`,
    ),
    snapshot:
      current.isGiven && current.long !== NO_SNAPSHOT ? snapshotOf(answer.field('snapshots'), current.long) : undefined,
    lastColumnId: answer.field('last-column-id').int,
  };
}

export function partitionSpecJson({ fields }: PartitionSpec): Json {
  return fields.map(({ sourceId, id, name, transform }) => ({
    'source-id': sourceId,
    'field-id': id,
    name,
    transform,
  }));
}

function partitionSpecOf(answer: Answer): PartitionSpec {
  return {
    id: answer.field('spec-id').int,
    fields: answer.field('fields').list.map((field) => ({
      sourceId: field.field('source-id').int,
      id: field.field('field-id').int,
      name: field.field('name').text,
      transform: field.field('transform').text,
    })),
  };
}

function snapshotOf(snapshots: Answer, id: bigint): Snapshot {
  const answer = theOne(snapshots.list, (one) => one.field('snapshot-id').long === id, `snapshot ${id}`);
  const sequence = answer.field('sequence-number');
  const summary = answer.field('summary');
  const texts = summary.isGiven ? summary.texts : new Map<string, string>();
  return {
    id,
    sequenceNumber: sequence.isGiven ? sequence.long : 0n,
    operation: texts.get('operation') ?? 'append',
    manifestList: answer.field('manifest-list').text,
    summary: texts,
  };
}

function theOne<T>(all: readonly T[], isWanted: (one: T) => boolean, what: string): T {
  const found = all.find(isWanted);
  if (found === undefined)
    throw new IcebergError(`the metadata of the table has no ${what}, which it refers to`, {
      type: 'invalid_data',
      isRetryable: false,
    });
  return found;
}
