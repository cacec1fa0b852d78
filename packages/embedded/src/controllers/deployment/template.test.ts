import type { Deployment, PodTemplateSpec } from '@polder/kube';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { HASH_LABEL, sameTemplate, templateHash } from './template.ts';

const deployment = (template: PodTemplateSpec, collisionCount?: number): Deployment => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: { selector: {}, template },
  ...(collisionCount !== undefined && { status: { collisionCount } }),
});

const template = (image: string): PodTemplateSpec => ({
  metadata: { labels: { app: 'web', tier: 'front' } },
  spec: { containers: [{ name: 'main', image }] },
});

test('the hash does not depend on the order of fields', () => {
  const other: PodTemplateSpec = {
    spec: { containers: [{ image: 'nginx:1', name: 'main' }] },
    metadata: { labels: { tier: 'front', app: 'web' } },
  };
  expect(templateHash(deployment(other))).toBe(templateHash(deployment(template('nginx:1'))));
});

test('each template, and each attempt to find a free name for it, has a hash of its own', () => {
  const hashes = [1, 2, 3].flatMap((n) =>
    [undefined, 0, 1, 2].map((count) => templateHash(deployment(template(`nginx:${n}`), count))),
  );
  expect(new Set(hashes).size).toBe(12);
});

test('a hash is a safe part of a name, and no word', () => {
  fc.assert(
    fc.property(fc.string(), (image) => {
      expect(templateHash(deployment(template(image)))).toMatch(/^[bcdfghjklmnpqrstvwxz2456789]{1,10}$/);
    }),
  );
});

test('templates are the same if only the hash label differs', () => {
  const labelled = { ...template('a'), metadata: { labels: { app: 'web', tier: 'front', [HASH_LABEL]: 'x' } } };
  expect(sameTemplate(labelled, template('a'))).toBe(true);
  expect(sameTemplate(labelled, template('b'))).toBe(false);
});
