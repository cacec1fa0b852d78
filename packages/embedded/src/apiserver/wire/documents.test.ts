import { expect, test } from 'vitest';
import { TestServer } from '../test-server.ts';

const BY_KUBECTL = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';

const widgets = {
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
};

async function swagger({ server }: TestServer, headers: Readonly<Record<string, string>>) {
  const response = await server.handle({ method: 'GET', path: '/openapi/v2', headers });
  const parts: Uint8Array[] = [];
  for await (const part of response.chunks()) parts.push(part);
  return { status: response.status, headers: response.headers, body: Buffer.concat(parts) };
}

test('a document that the client has is not sent again, until there is another kind', async () => {
  const server = new TestServer();
  const { status, headers, body } = await swagger(server, { accept: BY_KUBECTL });
  expect(status).toBe(200);
  expect(headers).toMatchObject({
    'content-type': 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf',
    vary: 'Accept',
  });
  expect(body.includes('com.example.v1.Widget')).toBe(false);

  const known = { accept: BY_KUBECTL, 'if-none-match': headers['etag'] ?? '' };
  expect(await swagger(server, known)).toMatchObject({ status: 304, body: Buffer.of() });

  await server.must('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', widgets);
  const changed = await swagger(server, known);
  expect(changed.status).toBe(200);
  expect(changed.body.includes('com.example.v1.Widget')).toBe(true);
});

test('the old document is JSON for whoever does not ask for protobuf', async () => {
  const server = new TestServer();
  const { headers, body } = await swagger(server, {});
  expect(headers['content-type']).toBe('application/json');
  expect(JSON.parse(body.toString())).toMatchObject({ swagger: '2.0' });
  expect((await swagger(server, { accept: 'text/html' })).status).toBe(406);
});
