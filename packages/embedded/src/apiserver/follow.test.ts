import { expect, test } from 'vitest';
import type { Follower } from './follow.ts';
import { CONFIG_MAPS, TestServer } from './test-server.ts';

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const definition = (...versions: readonly string[]) => ({
  metadata: { name: 'widgets.test.polder.dev' },
  spec: {
    group: 'test.polder.dev',
    scope: 'Namespaced',
    names: { kind: 'Widget', plural: 'widgets' },
    versions: versions.map((name, i) => ({
      name,
      served: true,
      storage: i === 0,
      schema: { openAPIV3Schema: { type: 'object' } },
    })),
  },
});

/** `+ configmaps a`: what a follower hears, of two kinds alone. */
function listening() {
  const heard: string[] = [];
  const follower: Follower = ({ kind, metadata }, is) => {
    if (['configmaps', 'widgets'].includes(kind.plural)) {
      heard.push(`${is === 'there' ? '+' : '-'} ${kind.plural}/${kind.version} ${metadata.name}`);
    }
  };
  return { heard, follower };
}

test('a follower hears of what is there, then of each change before the writer does', async () => {
  const test = new TestServer();
  await test.configMap('before');
  const { heard, follower } = listening();
  const stop = test.server.follow(follower);
  expect(heard).toEqual(['+ configmaps/v1 before']);
  await test.configMap('after');
  await test.must('DELETE', `${CONFIG_MAPS}/before`);
  expect(heard.slice(1)).toEqual(['+ configmaps/v1 after', '- configmaps/v1 before']);
  stop();
  await test.configMap('unheard');
  expect(heard).toHaveLength(3);
});

test('custom resources are followed like all others, in a version by which they can be reached', async () => {
  const test = new TestServer();
  const { heard, follower } = listening();
  test.server.follow(follower);
  await test.must('POST', DEFINITIONS, definition('v1', 'v2'));
  const widget = { apiVersion: 'test.polder.dev/v2', kind: 'Widget', metadata: { name: 'a' } };
  await test.must('POST', '/apis/test.polder.dev/v2/namespaces/default/widgets', widget);
  await test.must('DELETE', `${DEFINITIONS}/widgets.test.polder.dev`);
  await test.clock.advance(1);
  expect(heard).toEqual(['+ widgets/v1 a', '- widgets/v1 a']);
});

test('what is told is what was deleted, with its last state', async () => {
  const test = new TestServer();
  await test.configMap('a', {}, { finalizers: ['example.com/hold'] });
  const states: string[] = [];
  test.server.follow(({ metadata }, is) => {
    if (metadata.name === 'a') states.push(`${is} ${metadata.deletionTimestamp === undefined ? 'kept' : 'going'}`);
  });
  await test.must('DELETE', `${CONFIG_MAPS}/a`);
  const patch = { 'content-type': 'application/merge-patch+json' };
  await test.must('PATCH', `${CONFIG_MAPS}/a`, { metadata: { finalizers: null } }, patch);
  expect(states).toEqual(['there kept', 'there going', 'gone going']);
});
