import { expect, test } from 'vitest';
import { TestServer } from '../test-server.ts';
import type { PodLogRequest } from './pods.ts';

const LOG = '/api/v1/namespaces/default/pods/web/log';

async function asked(query: string) {
  const requests: PodLogRequest[] = [];
  const server = new TestServer({
    podLogs: async (request) => {
      requests.push(request);
      return '';
    },
  });
  const spec = { nodeName: 'n', containers: [{ name: 'main', image: 'x' }] };
  await server.must('POST', '/api/v1/namespaces/default/pods', { metadata: { name: 'web' }, spec });
  const { status, text } = await server.call('GET', `${LOG}?${query}`);
  return { status, text, request: requests[0] };
}

test('whoever runs pods hears everything that kubectl asks for', async () => {
  const query = 'follow=true&previous=1&timestamps=yes&tailLines=0&limitBytes=7&sinceTime=2026-01-01T00:00:00.5Z';
  const { request } = await asked(query);
  expect(request).toMatchObject({ follow: true, previous: true, timestamps: true, tailLines: 0, limitBytes: 7 });
  expect(request?.sinceTime).toBe(Date.UTC(2026, 0, 1) + 500);
  expect((await asked('follow=false&sinceSeconds=3')).request).toMatchObject({ follow: false, sinceSeconds: 3 });
});

// As kube-apiserver v1.36.3 answers.
test.each([
  ['limitBytes=0', 422, 'PodLogOptions \\"web\\" is invalid: limitBytes: Invalid value: 0: must be greater than 0'],
  ['tailLines=-1', 422, 'tailLines: Invalid value: -1: must be greater than or equal to 0'],
  ['sinceSeconds=0', 422, 'sinceSeconds: Invalid value: 0: must be greater than 0'],
  [
    'sinceSeconds=3&sinceTime=2026-01-01T00:00:00Z',
    422,
    'is invalid: []: Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified',
  ],
  ['stream=Stdout', 422, 'stream: Forbidden: may not be specified'],
  ['tailLines=abc', 400, 'strconv.ParseInt: parsing \\"abc\\": invalid syntax'],
  [
    'sinceTime=abc',
    400,
    'parsing time \\"abc\\" as \\"2006-01-02T15:04:05Z07:00\\": cannot parse \\"abc\\" as \\"2006\\"',
  ],
])('%s is refused with %i', async (query, status, message) => {
  const answer = await asked(query);
  expect(answer.status).toBe(status);
  expect(answer.text).toContain(message);
});
