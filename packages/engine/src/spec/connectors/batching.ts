import { Type } from 'typebox';
import { type Finding, refuse, warn, when } from '../finding.ts';
import { type Given, INT32 } from '../schema.ts';

/** How a sink gathers what it writes at once. */
export const batching = (batchSize: number) => ({
  batchSize: Type.Integer({
    default: batchSize,
    minimum: 0,
    ...INT32,
    description: 'How many messages are written at once. 0: as many as come until the time is up.',
  }),
  batchFlushIntervalSeconds: Type.Integer({
    default: 10,
    minimum: 0,
    ...INT32,
    description: 'How long a batch waits to become full, in seconds. 0: as long as it takes.',
  }),
});

interface Batching {
  readonly batchSize: number;
  readonly batchFlushIntervalSeconds: number;
}

export function batchingFindings({ batchSize, batchFlushIntervalSeconds }: Given<Batching>): readonly Finding[] {
  if (batchFlushIntervalSeconds !== 0) return [];
  return [
    ...when(
      batchSize === 0,
      refuse('batchFlushIntervalSeconds', 'with a batchSize of 0 nothing would ever be written'),
    ),
    ...when(
      (batchSize ?? 0) > 1,
      warn('batchFlushIntervalSeconds', 'is 0: a batch that is not full waits until it is, or the flow ends'),
    ),
  ];
}
