import { expect, test } from 'vitest';
import { insertField } from './insert-field.ts';
import { isUntouched, NOON, textOf } from './test-message.ts';

const inserted = (fields: Record<string, string>, metadata = {}) =>
  textOf(insertField({ fields }, NOON), '{"a":0.10}', metadata);

test('text, metadata, the time, and JSON', () => {
  const fields = {
    pipeline: 'orders-cdc',
    source_topic: '${metadata.topic}',
    ingested_at: '${now}',
    'flags.reprocessed': 'json:false',
  };
  expect(inserted(fields, { topic: 'raw.events' })).toBe(
    '{"a":0.10,"pipeline":"orders-cdc","source_topic":"raw.events","ingested_at":"2026-03-01T12:00:00Z","flags":{"reprocessed":false}}',
  );
});

test('metadata is text, whatever it is', () => {
  const metadata = { n: 5, b: 5n, s: 'x', y: Buffer.from('é'), o: { k: [1, 2n] }, z: null, t: true };
  const fields = Object.fromEntries(
    ['n', 'b', 's', 'y', 'o', 'z', 't', 'missing', 'toString'].map((key) => [`m${key}`, `\${metadata.${key}}`]),
  );
  expect(inserted(fields, metadata)).toBe(
    '{"a":0.10,"mn":"5","mb":"5","ms":"x","my":"é","mo":"{\\"k\\":[1,\\"2\\"]}","mz":"","mt":"true","mmissing":"","mtoString":""}',
  );
});

test('it overwrites, keeps numbers as they are spelled, and knows no other placeholders', () => {
  expect(inserted({ a: 'json:[1.50,{"10":1,"2":2}]' })).toBe('{"a":[1.50,{"10":1,"2":2}]}');
  expect(inserted({ b: 'at ${now}', c: '${env.X}' })).toBe('{"a":0.10,"b":"at ${now}","c":"${env.X}"}');
});

test('what is no object passes untouched', () => {
  for (const payload of ['[1]', 'null', 'no json', Buffer.from([0, 255]), null])
    expect(isUntouched(insertField({ fields: { a: 'x' } }, NOON), payload)).toBe(true);
});

test('JSON that is none is refused', () => {
  expect(() => inserted({ a: 'json:{' })).toThrow(expect.objectContaining({ field: 'fields[a]' }));
  expect(() => inserted({})).toThrow('at least one');
});
