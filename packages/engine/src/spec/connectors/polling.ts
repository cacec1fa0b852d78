/** What the sources that ask again and again have in common. */
import { Type } from 'typebox';
import { type Finding, warn, when } from '../finding.ts';
import { INT32 } from '../schema.ts';

export const polling = (pollInterval: number) => ({
  pollInterval: Type.Integer({
    default: pollInterval,
    minimum: 1,
    ...INT32,
    description: 'How long to wait before asking again, in seconds.',
  }),
});

export const readBatchSize = {
  readBatchSize: Type.Integer({
    default: 0,
    minimum: 0,
    ...INT32,
    description: 'How many rows to ask for at once. 0: all there are.',
  }),
};

export const queryFindings = (has: (field: 'query' | 'changeTrackingColumn') => boolean): readonly Finding[] => [
  ...when(
    has('query') && !has('changeTrackingColumn'),
    warn(
      'query',
      'is run as it is at every poll and gives all its rows each time; set changeTrackingColumn to read only new ones',
    ),
  ),
];
