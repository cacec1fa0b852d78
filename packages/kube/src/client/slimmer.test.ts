import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Slimmer } from './slimmer.ts';

const slim = (event: unknown) => new Slimmer(['ours']).parse(Buffer.from(JSON.stringify(event)));

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

test('what we applied ourselves stays, and is kept once for all that was made of one template', () => {
  const slimmer = new Slimmer(['ours']);
  const entry = (uid: string) => ({
    manager: 'ours',
    operation: 'Apply',
    apiVersion: 'v1',
    time: '2026-01-01T00:00:00Z',
    fieldsV1: { 'f:metadata': { 'f:ownerReferences': { [`k:{"uid":"${uid}"}`]: {} } }, 'f:data': { 'f:a': {} } },
  });
  const read = (uid: string, ...others: readonly object[]) => {
    const metadata = { name: 'a', managedFields: [...managedFields, entry(uid), ...others] };
    const object = { kind: 'ConfigMap', apiVersion: 'v1', metadata };
    const event = slimmer.parse(Buffer.from(JSON.stringify({ type: 'ADDED', object })));
    expect(event.object).toEqual(slimmer.slim(object));
    return 'metadata' in event.object ? event.object.metadata?.managedFields : undefined;
  };
  const { time: _, ...kept } = entry('00000000-0000-0000-0000-000000000001');
  const first = read('00000000-0000-0000-0000-000000000001', { ...entry('x'), subresource: 'status' });
  expect(first).toEqual([kept]);
  const second = read('00000000-0000-0000-0000-000000000002', { ...entry('x'), operation: 'Update' });
  expect(second?.[0]?.fieldsV1).toBe(first?.[0]?.fieldsV1);
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

test('whatever an object holds, all of it arrives but managed fields, and of these what we applied', () => {
  const text = fc.oneof(
    fc.string(),
    fc.constantFrom(
      '}]',
      '"}]',
      '\\"}]',
      '},{',
      '},{"',
      '"manager":"ours"',
      '"managedFields":[',
      '"metadata":{',
      '{',
      '}',
    ),
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
    fc.record(
      {
        manager: fc.oneof(fc.constant('ours'), text),
        operation: fc.constantFrom('Apply', 'Update'),
        time: fc.constantFrom('2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'),
        fieldsV1: fc.dictionary(
          text.map((t) => `f:${t}`),
          fc.dictionary(
            text.map((t) => `k:${JSON.stringify({ name: t })}`),
            fc.constant({}),
          ),
        ),
        subresource: fc.constant('status'),
      },
      { requiredKeys: ['manager', 'operation', 'fieldsV1'] },
    ),
  );
  const kept = (entries: readonly { manager: string; operation: string; fieldsV1: object; subresource?: string }[]) =>
    entries
      .filter(({ manager, operation, subresource }) => manager === 'ours' && operation === 'Apply' && !subresource)
      .map(({ manager, operation, fieldsV1 }) => ({ manager, operation, fieldsV1 }));
  const turned = (entry: object) => Object.fromEntries(Object.entries(entry).toReversed());
  fc.assert(
    fc.property(metadata, fields, json, fc.boolean(), fc.boolean(), (metadata, fields, spec, isFirst, isTurned) => {
      const managedFields = isTurned ? fields.map(turned) : fields;
      const whole = isFirst ? { managedFields, ...metadata } : { ...metadata, managedFields };
      const event = { type: 'ADDED', object: { apiVersion: 'v1', kind: 'X', metadata: whole, spec } };
      const own = kept(fields);
      const left = { ...metadata, ...(own.length > 0 && { managedFields: own }) };
      const expected: unknown = JSON.parse(JSON.stringify({ ...event, object: { ...event.object, metadata: left } }));
      expect(slim(event)).toEqual(expected);
    }),
    { numRuns: 2000 },
  );
});
