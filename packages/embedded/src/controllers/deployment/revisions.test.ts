import type { Deployment } from '@polder/kube';
import { expect, test } from 'vitest';
import { type Annotations, currentAnnotations } from './revisions.ts';

const REVISION = 'deployment.kubernetes.io/revision';
const HISTORY = 'deployment.kubernetes.io/revision-history';

const deployment = (annotations: Annotations): Deployment => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', annotations },
  spec: { selector: {}, template: {} },
});

test('a set has the annotations of its deployment, but for those that say what the deployment itself is', () => {
  const own = { 'kubectl.kubernetes.io/last-applied-configuration': '{}', [REVISION]: '7' };
  const annotations = { 'kubernetes.io/change-cause': 'a new image', ...own };
  expect(currentAnnotations(deployment(annotations), {}, 1)).toEqual({
    'kubernetes.io/change-cause': 'a new image',
    [REVISION]: '1',
  });
});

test('a set that is used again gets a new revision and remembers the old ones', () => {
  const again = currentAnnotations(deployment({}), { [REVISION]: '1' }, 3);
  expect(again).toEqual({ [REVISION]: '3', [HISTORY]: '1' });
  expect(currentAnnotations(deployment({}), again, 6)).toEqual({ [REVISION]: '6', [HISTORY]: '1,3' });
});

test('a revision is never taken back, even if the others are gone', () => {
  expect(currentAnnotations(deployment({}), { [REVISION]: '5' }, 2)).toEqual({ [REVISION]: '5' });
});

test('a history that gets too long loses its oldest revisions', () => {
  const history = Array.from({ length: 500 }, (_, i) => `${i + 1000}`).join(',');
  const { [HISTORY]: longer = '' } = currentAnnotations(
    deployment({}),
    { [REVISION]: '1500', [HISTORY]: history },
    1501,
  );
  expect(longer.length).toBeLessThanOrEqual(2000);
  expect(longer).toMatch(/^\d+,.*,1499,1500$/);
});

test('a revision that is no number is left to whoever wrote it', () => {
  expect(currentAnnotations(deployment({ a: 'b' }), { [REVISION]: 'mine' }, 2)).toEqual({ [REVISION]: 'mine' });
});
