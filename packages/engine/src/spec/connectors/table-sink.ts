/** What the sinks that write into tables have in common. */
import { Type } from 'typebox';
import { type Finding, need, warn, when } from '../finding.ts';
import type { Given } from '../schema.ts';

export const rawMode = {
  rawMode: Type.Boolean({
    default: false,
    description:
      'Write the message into the column data and its metadata into _metadata, instead of a column for each field.',
  }),
  flattenMetadataColumns: Type.Boolean({
    default: false,
    description: 'With rawMode: a column for each key of the metadata, instead of _metadata.',
  }),
  flattenMetadataColumnsPrefix: Type.Optional(
    Type.String({ description: 'What the names of those columns begin with, kafka_ for instance.' }),
  ),
};

interface RawMode {
  readonly rawMode: boolean;
  readonly flattenMetadataColumns: boolean;
  readonly flattenMetadataColumnsPrefix: string;
}

export function rawModeFindings(given: Given<RawMode>): readonly Finding[] {
  const isFlat = given.flattenMetadataColumns === true;
  return [
    ...when(isFlat && given.rawMode === false, need('rawMode', 'flattenMetadataColumns works in rawMode only')),
    ...when(
      !isFlat && given.flattenMetadataColumnsPrefix !== undefined,
      warn('flattenMetadataColumnsPrefix', 'has no effect without flattenMetadataColumns'),
    ),
  ];
}

export const autoCreateTable = (description: string) => ({
  autoCreateTable: Type.Boolean({ default: false, description }),
});

export const upsert = (conflictKey: string) => ({
  upsertMode: Type.Boolean({
    default: false,
    description: 'Update the row that has the same key instead of adding one, so that reading twice does no harm.',
  }),
  conflictKey: Type.Optional(Type.String({ description: conflictKey })),
});

export const withoutUpsert = (field: string): Finding => warn(field, 'has no effect without upsertMode');
