import { describe, expect, test } from 'vitest';
import { changesBetween } from './changes.ts';
import { redacted } from './redaction.ts';

const object = (fields: object, kind = 'Thing', metadata: object = {}) => ({
  apiVersion: 'v1',
  kind,
  metadata: { name: 'a', ...metadata },
  ...fields,
});

describe('what would change is told', () => {
  test('field by field, with what it was and what it would be', () => {
    expect(
      changesBetween(
        object({ spec: { a: 1, gone: [1], same: { x: 1 } } }),
        object({ spec: { a: 2, same: { x: 1 }, 'a.b/c': { d: true } } }),
      ),
    ).toEqual([
      { field: 'spec.a', before: '1', after: '2' },
      { field: 'spec.gone', before: '[1]' },
      { field: 'spec["a.b/c"]', after: '{"d":true}' },
    ]);
  });

  test('for things in lists by their names, so that one more is one change', () => {
    const containers = (...names: readonly string[]) =>
      object({ spec: { containers: names.map((name) => ({ name, image: 'nginx' })) } });
    expect(changesBetween(containers('b'), containers('a', 'b'))).toEqual([
      { field: 'spec.containers[a]', after: '{"name":"a","image":"nginx"}' },
    ]);
    expect(changesBetween(object({ spec: [1, 2] }), object({ spec: [1, 3] }))).toEqual([
      { field: 'spec[1]', before: '2', after: '3' },
    ]);
  });

  test('inside of documents, too', () => {
    const map = (value: object) => object({ data: { 'spec.json': JSON.stringify(value) } }, 'ConfigMap');
    expect(changesBetween(map({ sink: { batchSize: 1 } }), map({ sink: { batchSize: 2 } }))).toEqual([
      { field: 'data["spec.json"].sink.batchSize', before: '1', after: '2' },
    ]);
  });

  test('without what only the server keeps, and without the status', () => {
    const annotations = (text: string) => ({ 'kubectl.kubernetes.io/last-applied-configuration': text });
    expect(
      changesBetween(
        object({ status: { a: 1 } }, 'Thing', { uid: '1', resourceVersion: '1', annotations: annotations('1') }),
        object({ status: { a: 2 } }, 'Thing', { uid: '2', resourceVersion: '2', annotations: annotations('2') }),
      ),
    ).toEqual([]);
  });

  test('long values are cut', () => {
    const [change] = changesBetween(object({ spec: 'x'.repeat(200) }), object({ spec: 'y'.repeat(200) }));
    expect(change?.after).toHaveLength(100);
  });
});

describe('what is secret is not told', () => {
  const hidden = '<redacted>';

  test('of a Secret nothing but the names', () => {
    expect(
      changesBetween(object({ data: { a: 'eA==' } }, 'Secret'), object({ data: { a: 'eQ==', b: 'eg==' } }, 'Secret')),
    ).toEqual([
      { field: 'data.a', before: hidden, after: hidden },
      { field: 'data.b', after: hidden },
    ]);
  });

  test.each([
    ['a field that is called so', { password: 's3cr3t' }],
    ['one in a list', { users: [{ name: 'a', token: 's3cr3t' }] }],
    ['the user in a URL', { url: 'postgres://u:s3cr3t@host/db' }],
    ['a connection string', { connectionString: 'host=a password=s3cr3t' }],
    ['a key', { tls: '-----BEGIN PRIVATE KEY-----\ns3cr3t' }],
    ['a document in a text', { file: '{"sink":{"secretAccessKey":"s3cr3t"}}' }],
  ])('%s', (_, spec) => {
    expect(JSON.stringify(redacted(spec))).not.toContain('s3cr3t');
    const changes = [
      ...changesBetween(object({}), object({ spec })),
      ...changesBetween(object({ spec: { ...spec, x: 1 } }), object({})),
      ...changesBetween(
        object({ spec }),
        object({ spec: JSON.parse(JSON.stringify(spec).replaceAll('s3cr3t', 's3cr3t2')) }),
      ),
    ];
    expect(changes).toHaveLength(3);
    expect(JSON.stringify(changes)).not.toContain('s3cr3t');
  });

  test('but references to it are', () => {
    const ref = {
      passwordSecretRef: { name: 'db', key: 'password' },
      secretName: 'x',
      automountServiceAccountToken: true,
    };
    expect(redacted(ref)).toEqual(ref);
  });
});
