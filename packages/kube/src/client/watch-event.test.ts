import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseSlimWatchEvent } from './watch-event.ts';

const slim = (event: unknown) => parseSlimWatchEvent(Buffer.from(JSON.stringify(event)));

const managedFields = [
  {
    manager: 'kubectl',
    operation: 'Update',
    apiVersion: 'v1',
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:data': { 'f:a': {} } },
  },
  {
    manager: 'other',
    operation: 'Apply',
    fieldsV1: { 'f:spec': { 'k:{"name":"}]"}': { '.': {} }, 'v:"}],"': {} } },
    subresource: 'status',
  },
];

test('managed fields are gone, wherever they stand in the metadata', () => {
  const rest = { name: 'a', resourceVersion: '7' };
  for (const metadata of [
    { managedFields, ...rest },
    { ...rest, managedFields },
    { name: 'a', managedFields, resourceVersion: '7' },
    { managedFields },
  ]) {
    const { managedFields: _, ...expected } = metadata;
    const event = { type: 'ADDED', object: { kind: 'Pod', apiVersion: 'v1', metadata, spec: { x: 1 } } };
    expect(slim(event)).toEqual({ ...event, object: { ...event.object, metadata: expected } });
  }
});

test('a field of the same name elsewhere is data and stays', () => {
  const template = { metadata: { managedFields: [{ keep: 'me' }] } };
  const event = {
    type: 'MODIFIED',
    object: { kind: 'X', metadata: { name: 'a' }, spec: { managedFields: [{ a: 1 }], template } },
  };
  expect(slim(event)).toEqual(event);
});

test('text that looks like managed fields inside a value stays', () => {
  const text = '"managedFields":[{"a":"}]"}] and "metadata":{';
  const event = { type: 'ADDED', object: { kind: 'X', metadata: { annotations: { text }, name: text } } };
  expect(slim(event)).toEqual(event);
});

test('whatever an object holds, all of it but its managed fields arrives', () => {
  const text = fc.oneof(
    fc.string(),
    fc.constantFrom('}]', '"}]', '\\"}]', '"managedFields":[', '"metadata":{', '{', '}'),
  );
  const json = fc.jsonValue({ stringUnit: 'grapheme' });
  const metadata = fc.record(
    {
      annotations: fc.dictionary(text, text),
      name: text,
      labels: fc.dictionary(text, text),
      ownerReferences: fc.array(fc.record({ uid: text })),
    },
    { requiredKeys: [] },
  );
  const fields = fc.array(
    fc.record({
      manager: text,
      fieldsV1: fc.dictionary(
        text.map((t) => `f:${t}`),
        fc.dictionary(
          text.map((t) => `k:${JSON.stringify({ name: t })}`),
          fc.constant({}),
        ),
      ),
    }),
  );
  fc.assert(
    fc.property(metadata, fields, json, fc.boolean(), (metadata, managedFields, spec, isFirst) => {
      const whole = isFirst ? { managedFields, ...metadata } : { ...metadata, managedFields };
      const event = { type: 'ADDED', object: { apiVersion: 'v1', kind: 'X', metadata: whole, spec } };
      const expected: unknown = JSON.parse(JSON.stringify({ ...event, object: { ...event.object, metadata } }));
      expect(slim(event)).toEqual(expected);
    }),
    { numRuns: 2000 },
  );
});
