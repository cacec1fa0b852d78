import { configMap, configMaps } from './objects.ts';
import { expect, topic } from './suite.ts';

const status = (code: number, reason: string, message: string) => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message,
  reason,
  details: {},
  code,
});

export const errors = topic('errors', (promise) => {
  for (const path of [
    '/apis/apps/v9',
    '/apis/apps/v1/nope',
    '/api/v1/namespaces/default/nope',
    '/api/v1/namespaces/default/pods/x/nope',
  ]) {
    promise(`404 with a Status for what a known group does not have: ${path}`, async ({ wire }) => {
      const answer = await wire.get(path);
      expect(answer.status).toBe(404);
      expect(answer.body).toEqual(status(404, 'NotFound', 'the server could not find the requested resource'));
    });
  }

  for (const path of ['/nope', '/apis/nope.example.com', '/apis/nope.example.com/v1/widgets']) {
    promise(`404 in plain text for what no group has: ${path}`, async ({ wire }) => {
      const answer = await wire.get(path);
      expect(answer.status).toBe(404);
      expect(answer.text).toBe('404 page not found\n');
      expect(answer.headers['content-type']).toBe('text/plain; charset=utf-8');
    });
  }

  promise('405 for a verb that the resource does not have', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    const message = 'the server does not allow this method on the requested resource';
    for (const answer of [await wire.replace(path, configMap('a')), await wire.create(`${path}/a`, configMap('a'))]) {
      expect(answer.status).toBe(405);
      expect(answer.body).toEqual(status(405, 'MethodNotAllowed', message));
    }
  });

  promise('405 for reading what can only be created', async ({ wire }) => {
    const answer = await wire.get('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews');
    expect(answer.status).toBe(405);
  });

  promise('406 for a media type that cannot be answered, with those that can', async ({ wire, namespace }) => {
    const answer = await wire.get(configMaps(await namespace()), { accept: 'text/html' });
    expect(answer.status).toBe(406);
    expect(answer.headers['content-type']).toBe('application/json');
    expect(answer.body).toMatchObject({ reason: 'NotAcceptable', code: 406 });
    expect(answer.body.message).toMatch(
      /^406: Not Acceptable\n\nAvailable representations: application\/json, application\/yaml/,
    );
  });

  promise('415 for a body of an unknown media type', async ({ wire, namespace }) => {
    const answer = await wire.request('POST', configMaps(await namespace()), {
      body: 'x',
      headers: { 'content-type': 'text/html' },
    });
    expect(answer.status).toBe(415);
    expect(answer.body).toMatchObject({ reason: 'UnsupportedMediaType', code: 415 });
    expect(answer.body.message).toMatch(
      /^the body of the request was in an unknown format - accepted media types include: application\/json, application\/yaml/,
    );
  });

  promise('415 for a patch of an unknown type', async ({ wire, namespace }) => {
    const answer = await wire.request('PATCH', `${configMaps(await namespace())}/a`, { body: {} });
    expect(answer.status).toBe(415);
    expect(answer.body).toEqual(status(415, 'UnsupportedMediaType', '415: Unsupported Media Type'));
  });

  promise('400 for a query that cannot be read', async ({ wire, namespace }) => {
    const answer = await wire.get(`${configMaps(await namespace())}?limit=many`);
    expect(answer.status).toBe(400);
    expect(answer.body.reason).toBe('BadRequest');
  });
});
