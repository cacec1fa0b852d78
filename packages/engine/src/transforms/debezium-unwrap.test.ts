import { expect, test } from 'vitest';
import { debeziumUnwrap } from './debezium-unwrap.ts';
import { isUntouched, messageOf } from './test-message.ts';

const envelope = (op: string, more = '') =>
  `{"payload":{"before":{"id":1,"n":"old"},"after":{"id":1,"n":0.10},"op":"${op}","source":{"table":"t","lsn":9007199254740993}${more}}}`;

const unwrapped = (config: Parameters<typeof debeziumUnwrap>[0], payload: string | null, metadata = {}) =>
  debeziumUnwrap(config)(messageOf(payload, metadata)).map((message) => [message.payload?.text, message.metadata]);

test.each([
  ['c', '{"id":1,"n":0.10}', 'insert'],
  ['u', '{"id":1,"n":0.10}', 'update'],
  ['r', '{"id":1,"n":0.10}', 'insert'],
  ['d', '{"id":1,"n":"old"}', 'delete'],
])('op %s', (op, row, operation) => {
  expect(unwrapped({}, envelope(op), { topic: 't' })).toEqual([[row, { topic: 't', operation }]]);
});

test('a row of a snapshot may count as an update', () => {
  expect(unwrapped({ snapshotOperation: 'update' }, envelope('r'))).toEqual([
    ['{"id":1,"n":0.10}', { operation: 'update' }],
  ]);
});

test('the row may say what happened and where it came from', () => {
  expect(unwrapped({ addOperationFields: true, addSourceFields: ['table', 'lsn', 'none'] }, envelope('d'))).toEqual([
    [
      '{"id":1,"n":"old","__op":"d","__deleted":"true","source_table":"t","source_lsn":9007199254740993}',
      { operation: 'delete' },
    ],
  ]);
  expect(unwrapped({ addOperationFields: true }, envelope('r'))[0]?.[0]).toBe(
    '{"id":1,"n":0.10,"__op":"r","__deleted":"false"}',
  );
});

test('so may the metadata', () => {
  const [[, metadata] = []] = unwrapped({ includeSourceInMetadata: true }, envelope('c'));
  expect(metadata).toEqual({ source_table: 't', source_lsn: '9007199254740993', operation: 'insert' });
});

test('what is no change of a row passes untouched', () => {
  for (const payload of [
    '{"id":1}',
    '{"payload":{"after":{}}}',
    '{"payload":5}',
    envelope('t'),
    '[]',
    'no json',
    'null',
  ]) {
    expect(isUntouched(debeziumUnwrap(), payload)).toBe(true);
  }
});

test('a change without its row fails', () => {
  expect(() => unwrapped({}, '{"payload":{"op":"d","before":null}}')).toThrow(
    "payload.op is 'd', but payload.before is no object",
  );
});

test('a tombstone is dropped, or becomes a delete by its key', () => {
  const infer = { inferDeleteFromTombstone: true };
  expect(unwrapped({}, null, { key: '{"id":1}' })).toEqual([]);
  expect(unwrapped({}, '', { key: '{"id":1}' })).toEqual([]);
  expect(unwrapped(infer, null, { key: '{"id":1}' })).toEqual([['{"id":1}', { key: '{"id":1}', operation: 'delete' }]]);
  expect(unwrapped({ ...infer, addOperationFields: true }, '', { key: '{"id":1}' })[0]?.[0]).toBe(
    '{"id":1,"__op":"d","__deleted":"true"}',
  );
  expect(unwrapped(infer, null, { key: '{"schema":{},"payload":{"id":1}}' })[0]?.[0]).toBe('{"id":1}');
  expect(unwrapped(infer, null, { key: Buffer.from('{"id":1}') })[0]?.[0]).toBe('{"id":1}');
  for (const key of [undefined, null, 'no json', '5', '[1]']) expect(unwrapped(infer, null, { key })).toEqual([]);
});
