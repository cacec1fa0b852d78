import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { aFlow, aPod, aReading, kafkaSpec, liveDeployment, NOW } from '../../test/states.ts';
import type { Reading } from '../api/index.ts';
import { type Counts, countsOf } from './counts.ts';

const MINUTE = 60_000;
const pod = { ...aPod(liveDeployment(aFlow(kafkaSpec()))), metadata: { name: 'dataflow-orders-a', uid: 'a' } };
const count = (status: Counts | undefined, readings: readonly Reading[], now = NOW) =>
  countsOf(status, { readings, pods: [pod] }, now, MINUTE);

test('a flow that was never counted begins at 0, and a processor that counted nothing is no news', () => {
  const { after, isDue } = count(undefined, [aReading()]);
  expect({ after, isDue }).toEqual({ after: { processedCount: 0, errorCount: 0 }, isDue: false });
});

test('what processors counted is added up, and when the last message was seen', () => {
  const movedAt = NOW.getTime() - 5_000;
  const { after } = count(undefined, [
    aReading({ processed: 10, errors: 1, movedAt }),
    aReading({ uid: 'b', pod: 'b', processed: 5 }),
    aReading({ uid: 'c', pod: 'c', errors: 2, movedAt: NOW.getTime() + 1 }),
  ]);
  expect(after).toMatchObject({
    processedCount: 15,
    errorCount: 3,
    lastProcessedTime: '2026-03-01T12:00:00Z',
    countedTime: '2026-03-01T12:00:00Z',
  });
});

test('a processor that starts again counts on, also if it has overtaken itself or does not say when it started', () => {
  const first = count(undefined, [aReading({ processed: 10 })]).after;
  expect(count(first, [aReading({ started: '2', processed: 12 })]).after.processedCount).toBe(22);
  const unsaid = count(undefined, [aReading({ started: '', processed: 10 })]).after;
  expect(count(unsaid, [aReading({ started: '', processed: 3 })]).after.processedCount).toBe(13);
});

describe('counts alone', () => {
  const first = count(undefined, [aReading({ processed: 10 })]).after;
  const later = (ms: number) => new Date(NOW.getTime() + ms);

  test('are written at most once a minute', () => {
    expect(count(first, [aReading({ processed: 11 })], later(MINUTE - 1)).isDue).toBe(false);
    expect(count(first, [aReading({ processed: 11 })], later(MINUTE)).isDue).toBe(true);
  });

  test('are written at once if a run is over, because only this process remembers it', () => {
    expect(count(first, [aReading({ processed: 11, isOver: true })], later(1)).isDue).toBe(true);
    expect(count(first, [aReading({ processed: 10, isOver: true })], later(1)).isDue).toBe(false);
  });
});

test('a processor that has not been asked yet is not forgotten', () => {
  const first = count(undefined, [aReading({ processed: 10 })]).after;
  const second = count(first, [aReading({ uid: 'b', pod: 'b', processed: 1 })]).after;
  const third = count(second, [aReading({ processed: 10 }), aReading({ uid: 'b', pod: 'b', processed: 1 })]).after;
  expect(third.processedCount).toBe(11);
});

/** What happens to one pod: it processes, starts again, is asked, and the status is written or not. */
const happening = fc.oneof(
  fc.record({ do: fc.constant('process' as const), messages: fc.integer({ min: 0, max: 100 }) }),
  fc.record({ do: fc.constant('restart' as const), messages: fc.constant(0) }),
  fc.record({ do: fc.constant('look' as const), messages: fc.constant(0) }),
);

test('whatever is processed before a look is counted once, however often it starts again in between', () => {
  fc.assert(
    fc.property(fc.array(happening, { maxLength: 50 }), (happenings) => {
      let [run, current] = [1, 0];
      let status: Counts | undefined;
      const seen = new Map<number, number>();
      for (const { do: what, messages } of happenings) {
        if (what === 'process') current += messages;
        if (what === 'restart') [run, current] = [run + 1, 0];
        if (what !== 'look') continue;
        status = count(status, [aReading({ started: String(run), processed: current })]).after;
        seen.set(run, current);
        expect(status.processedCount).toBe([...seen.values()].reduce((sum, one) => sum + one, 0));
      }
    }),
  );
});
