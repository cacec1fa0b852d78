import { expect, test } from 'vitest';
import type { Failure } from '../message.ts';
import { Payload } from '../payload.ts';
import { MemorySink, MemorySource, MemoryTopic, Rig, refuse, to, VirtualClock } from '../testing/index.ts';
import { errorRecord } from './error-record.ts';
import type { AckPolicy } from './error-sink.ts';

const errorsTo = (sink: MemorySink, ackPolicy: AckPolicy = 'afterWrite') => ({ ...to(sink), ackPolicy });

const never = () => new Promise<never>(() => {});

/** The texts of the messages that an error sink was given. */
const originals = (sink: MemorySink) =>
  sink.messages.map(({ payload }) => {
    const record: { original_message: { original_data: string } } = JSON.parse(payload?.text ?? '');
    return record.original_message.original_data;
  });

test('poison of every kind ends in the error sink, and only that; the rest arrives, and all is committed', async () => {
  const clock = new VirtualClock();
  const records = Array.from({ length: 120 }, (_, i) => {
    if (i % 20 === 3) return { text: `undecodable ${i}`, isUndecodable: true };
    if (i % 20 === 7) return `break ${i}`;
    if (i % 20 === 11) return `refused ${i}`;
    if (i % 20 === 13) return `split good-${i} break-${i} refused-${i}`;
    return `good ${i}`;
  });
  const topic = new MemoryTopic({ a: records.slice(0, 70), b: records.slice(70) });
  const sink = new MemorySink({ write: (batch) => refuse(batch, (text) => text.startsWith('refused')) });
  const errors = new MemorySink();
  const rig = new Rig({ clock, source: new MemorySource({ topic, clock }), sink: to(sink), errors: errorsTo(errors) });
  await rig.toEnd();
  const at = (rest: number) => records.map((_, i) => i).filter((i) => i % 20 === rest);
  expect(originals(errors).toSorted()).toEqual(
    [
      ...at(3).map((i) => `undecodable ${i}`),
      ...at(7).map((i) => `break ${i}`),
      ...at(11).map((i) => `refused ${i}`),
      ...at(13).flatMap((i) => [`break-${i}`, `refused-${i}`]),
    ].toSorted(),
  );
  expect(sink.texts.every((text) => text.startsWith('good'))).toBe(true);
  expect(sink.texts.length).toBe(120 - 4 * 6 + 6);
  expect([topic.isCommitted, clock.pending]).toEqual([true, 0]);
  expect(rig.logged.join('\n')).not.toMatch(/secret-payload|good|refused \d/);
});

test('a record says what failed, when, where it was going and what it was', async () => {
  const clock = new VirtualClock();
  const topic = new MemoryTopic({ a: [{ text: '{"id":1,"price":0.10}', metadata: { key: 'k' } }] });
  const sink = new MemorySink({ write: (batch) => refuse(batch, () => true) });
  const errors = new MemorySink();
  await new Rig({
    clock,
    source: new MemorySource({ topic, clock }),
    sink: to(sink),
    errors: errorsTo(errors),
  }).toEnd();
  const metadata = { key: 'k', partition: 'a', offset: 0 };
  const [record] = errors.messages;
  expect(record?.payload?.json).toMatchObject({
    error: { message: 'refused', timestamp: '2026-01-01T00:00:00.000Z', original_sink: 'memory', metadata },
    original_message: { id: 1 },
  });
  expect(record?.metadata).toEqual({
    ...metadata,
    error: 'refused',
    error_timestamp: '2026-01-01T00:00:00.000Z',
    original_sink: 'memory',
    is_error_message: true,
  });
});

test('what is no object is kept as its text, what is no text as its bytes too, what is nothing as null', () => {
  const origin = { partition: 'a', sequence: 0, position: 0, readAt: 0 };
  const original = (payload: Payload | null, metadata = {}) => {
    const failure: Failure = {
      message: { payload, metadata, origin },
      because: '-',
      type: 'unknown',
      isRetryable: false,
    };
    const json: { error: unknown; original_message: unknown } = JSON.parse(
      errorRecord(failure, 'kafka', 0).payload?.text ?? '',
    );
    return json;
  };
  expect(original(Payload.ofText('[1]')).original_message).toEqual({ original_data: '[1]' });
  expect(original(Payload.ofText('no json')).original_message).toEqual({ original_data: 'no json' });
  expect(original(null).original_message).toEqual({ original_data: null });
  expect(original(Payload.ofBytes(Buffer.from([0xff, 0x00]))).original_message).toEqual({
    original_data: '\ufffd\u0000',
    original_data_base64: '/wA=',
  });
  const metadata = { key: Buffer.from('k'), lsn: 12n, at: new Date(0), nothing: undefined, headers: { a: ['b'] } };
  expect(original(null, metadata).error).toMatchObject({
    metadata: { key: 'k', lsn: '12', at: '1970-01-01T00:00:00.000Z', nothing: null, headers: { a: ['b'] } },
  });
});

test('an error sink that is down loses nothing: the input stays uncommitted and is tried until it is written', async () => {
  const clock = new VirtualClock();
  const topic = new MemoryTopic({ a: ['good', 'break 1', 'good'] });
  const sink = new MemorySink();
  const errors = new MemorySink({
    write: (batch) => {
      if (clock.monotonic() < 600_000) throw new Error('connection reset');
      // Not even a refusal is final: there is nowhere else to go.
      return clock.monotonic() < 1_200_000 ? refuse(batch, () => true) : [];
    },
  });
  const source = new MemorySource({ topic, clock });
  const rig = new Rig({ clock, source, sink: to(sink), errors: errorsTo(errors) });
  await clock.advance(1_100_000);
  expect([sink.texts.length, topic.committed.get('a'), rig.isOver]).toEqual([2, 1, false]);
  await rig.toEnd();
  expect([originals(errors), topic.isCommitted]).toEqual([['break 1'], true]);
});

test.each(['never', 'afterMainSinkSuccess'] as const)(
  'ackPolicy %s: what failed is read again by the next run, with what came after it',
  async (ackPolicy) => {
    const clock = new VirtualClock();
    const topic = new MemoryTopic({ a: ['0', '1', 'break 2', '3', '4'], b: ['0'] });
    const run = async () => {
      const sink = new MemorySink();
      const errors = new MemorySink();
      const source = new MemorySource({ topic, clock });
      await new Rig({ clock, source, sink: to(sink), errors: errorsTo(errors, ackPolicy) }).toEnd();
      return [sink.texts.toSorted(), originals(errors)];
    };
    expect(await run()).toEqual([['0', '0', '1', '3', '4'], ['break 2']]);
    expect(topic.committed).toEqual(
      new Map([
        ['a', 2],
        ['b', 1],
      ]),
    );
    expect(await run()).toEqual([['3', '4'], ['break 2']]);
  },
);

test('ackPolicy never: a position that is held for ever costs no memory for what comes after it', async () => {
  const clock = new VirtualClock();
  const topic = new MemoryTopic({ a: ['break', ...Array.from({ length: 500 }, (_, i) => `${i}`)] });
  const limits = { uncommitted: 20, bufferedMessages: 10 };
  const sink = new MemorySink();
  const source = new MemorySource({ topic, clock });
  const rig = new Rig({ clock, source, sink: to(sink), errors: errorsTo(new MemorySink(), 'never'), limits });
  await rig.toEnd();
  expect([sink.messages.length, rig.pipeline.uncommitted]).toEqual([500, 0]);
});

test('without an error sink a message that can not be transformed is skipped, and the log says how many, not what', async () => {
  const clock = new VirtualClock();
  const topic = new MemoryTopic({ a: ['0', 'break 1', '2', 'break 3'] });
  const sink = new MemorySink();
  const rig = new Rig({ clock, source: new MemorySource({ topic, clock }), sink: to(sink) });
  await rig.toEnd();
  expect([sink.texts, topic.isCommitted]).toEqual([['0', '2'], true]);
  expect(rig.logged).toEqual(['{"messages":2} could not decode or transform; skipped, there is no error sink']);
});

test('without an error sink a message that can not be decoded or written ends the run before it is committed', async () => {
  for (const [poison, done] of [
    [{ text: 'poison', isUndecodable: true }, 'decoded'],
    ['poison', 'written'],
  ] as const) {
    const clock = new VirtualClock();
    const topic = new MemoryTopic({ a: ['0', '1', poison, '3'] });
    const sink = new MemorySink({ write: (batch) => refuse(batch, (text) => text === 'poison') });
    const rig = new Rig({ clock, source: new MemorySource({ topic, clock, isEndless: true }), sink: to(sink) });
    await expect(rig.toEnd()).rejects.toThrow(
      `a message could not be ${done} (a, position 2): invalid_data; declare spec.errors to set such messages aside`,
    );
    expect([topic.committed.get('a'), clock.pending]).toEqual([2, 0]);
  }
});

test('a sink that is down moves to the error sink only what its retry budget says, not everything', async () => {
  const clock = new VirtualClock();
  const topic = new MemoryTopic({ a: Array.from({ length: 100 }, (_, i) => `${i}`) });
  const sink = new MemorySink({
    write: () => {
      if (clock.monotonic() < 150_000) throw new Error('connection reset');
    },
  });
  const errors = new MemorySink();
  const source = new MemorySource({ topic, clock });
  await new Rig({
    clock,
    source,
    sink: to(sink, { size: 10 }),
    errors: errorsTo(errors),
    retry: { budgetMs: 60_000 },
  }).toEnd();
  expect(originals(errors)).toEqual(Array.from({ length: 20 }, (_, i) => `${i}`));
  expect([sink.messages.length, topic.isCommitted]).toEqual([80, true]);
});

test('without an error sink a sink that is down is waited for, however long it takes', async () => {
  const clock = new VirtualClock();
  const topic = new MemoryTopic({ a: ['0', '1'] });
  const sink = new MemorySink({
    write: () => {
      if (clock.monotonic() < 36_000_000) throw new Error('connection reset');
    },
  });
  await new Rig({ clock, source: new MemorySource({ topic, clock }), sink: to(sink) }).toEnd();
  expect([sink.texts, topic.isCommitted]).toEqual([['0', '1'], true]);
});

test('a sink that does not answer is given no longer than its budget, if its messages can go elsewhere', async () => {
  const clock = new VirtualClock();
  const topic = new MemoryTopic({ a: ['0', '1'] });
  const errors = new MemorySink();
  const source = new MemorySource({ topic, clock });
  const retry = { budgetMs: 60_000 };
  const sink = to(new MemorySink({ write: never }));
  await new Rig({ clock, source, sink, errors: errorsTo(errors), retry }).toEnd();
  expect([originals(errors), topic.isCommitted]).toEqual([['0', '1'], true]);
  expect(clock.monotonic()).toBeLessThan(62_000);
});

test('a sink that reports a message it was not given has written nothing, as far as anybody knows', async () => {
  const clock = new VirtualClock();
  const topic = new MemoryTopic({ a: ['0', '1'] });
  let attempts = 0;
  const write = (batch: Parameters<MemorySink['write']>[0]) =>
    attempts++ === 0 ? refuse(batch, () => true).map((one) => ({ ...one, message: { ...one.message } })) : [];
  const sink = new MemorySink({ write });
  await new Rig({ clock, source: new MemorySource({ topic, clock }), sink: to(sink) }).toEnd();
  expect([attempts, topic.isCommitted]).toEqual([2, true]);
});
