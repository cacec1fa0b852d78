import { type ControllerRevision, StatefulSet } from '@polder/kube';
import { expect, test } from 'vitest';
import { forget, historyOf } from './history.ts';
import { snapshotOf } from './snapshot.ts';

const template = (image: string) => ({
  metadata: { labels: { app: 'web' } },
  spec: {
    containers: [
      {
        name: 'c',
        image,
        imagePullPolicy: 'IfNotPresent' as const,
        resources: {},
        terminationMessagePath: '/dev/termination-log',
        terminationMessagePolicy: 'File' as const,
      },
    ],
    restartPolicy: 'Always' as const,
    dnsPolicy: 'ClusterFirst' as const,
    schedulerName: 'default-scheduler',
    securityContext: {},
    terminationGracePeriodSeconds: 30,
  },
});

const owner = (annotations = {}): StatefulSet => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { namespace: 'default', name: 'web', uid: 'u', annotations },
});

const workload = (image: string, collisionCount = 0) => ({
  kind: StatefulSet,
  owner: owner(),
  template: template(image),
  selector: { matchLabels: { app: 'web' } },
  hashLabel: 'controller.kubernetes.io/hash',
  collisionCount,
});

const recorded = (name: string, image: string, revision: number): ControllerRevision => ({
  apiVersion: 'apps/v1',
  kind: 'ControllerRevision',
  metadata: { namespace: 'default', name, labels: { app: 'web' } },
  data: { ...snapshotOf(template(image)) },
  revision,
});

const nothing = { owned: [], unowned: [] };

test('a template has the revision name that the real controller gives it', () => {
  // As kube-controller-manager 1.36.3 named it.
  expect(historyOf(workload('x&y<z>'), nothing).newest.name).toBe('web-5bf64c7586');
});

test('a name that is taken is followed by another', () => {
  expect(historyOf(workload('a', 1), nothing).newest.name).not.toBe(historyOf(workload('a'), nothing).newest.name);
});

test('a new template is recorded under the next number, with what the workload is called and annotated', () => {
  const one = { ...workload('b'), owner: owner({ note: 'why' }) };
  const history = historyOf(one, { owned: [recorded('web-1', 'a', 4)], unowned: [] });
  expect(history.steps).toMatchObject([
    {
      do: 'create-revision',
      revision: {
        revision: 5,
        metadata: {
          name: history.newest.name,
          annotations: { note: 'why' },
          labels: { app: 'web', 'controller.kubernetes.io/hash': history.newest.hash },
          ownerReferences: [{ kind: 'StatefulSet', uid: 'u', controller: true }],
        },
      },
    },
  ]);
});

test('a template that is there already is not recorded again', () => {
  const owned = [recorded('web-2', 'b', 2), recorded('web-1', 'a', 1)];
  expect(historyOf(workload('b'), { owned, unowned: [] })).toMatchObject({ newest: { name: 'web-2' }, steps: [] });
});

test('going back to an earlier template takes its old revision and makes it the newest', () => {
  const owned = [recorded('web-1', 'a', 1), recorded('web-2', 'b', 2)];
  const history = historyOf(workload('a'), { owned, unowned: [] });
  expect(history.newest.name).toBe('web-1');
  expect(history.steps).toMatchObject([{ do: 'renumber-revision', revision: owned[0], number: 3 }]);
});

test('revisions that nobody controls are taken in if the selector matches them', () => {
  const stranger = { ...recorded('other', 'a', 9), metadata: { name: 'other', labels: { app: 'other' } } };
  const history = historyOf(workload('a'), { owned: [], unowned: [recorded('web-1', 'a', 1), stranger] });
  expect(history.newest.name).toBe('web-1');
  expect(history.steps).toMatchObject([{ do: 'adopt-revision', revision: { metadata: { name: 'web-1' } } }]);
});

test('the oldest revisions that nobody uses are forgotten', () => {
  const owned = ['b', 'c', 'a'].map((image, at) => recorded(`web-${image}`, image, at));
  const { revisions } = historyOf(workload('d'), { owned, unowned: [] });
  expect(forget(revisions, 1)).toMatchObject([{ do: 'delete-revision', revision: { metadata: { name: 'web-b' } } }]);
  expect(forget(revisions, -1)).toEqual([]);
});
