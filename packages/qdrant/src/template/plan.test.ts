import { describe, expect, test } from 'vitest';
import { QdrantCollection, QdrantCollectionTemplate } from '../kinds/index.ts';
import { planTemplate } from './plan.ts';

const aTemplate = (
  spec: Partial<QdrantCollectionTemplate['spec']> = {},
  more: Partial<QdrantCollectionTemplate> = {},
): QdrantCollectionTemplate => ({
  apiVersion: 'qdrant.operator/v1alpha1',
  kind: QdrantCollectionTemplate.kind,
  metadata: { name: 'small' },
  spec: { name: 'small', ...spec },
  ...more,
});
const aCollection = (creationTimestamp: string): QdrantCollection => ({
  apiVersion: 'qdrant.operator/v1alpha1',
  kind: QdrantCollection.kind,
  metadata: { name: 'products', namespace: 'default', creationTimestamp },
  spec: { cluster: 'vectors', vectorSize: 4 },
});
const NOBODY = { collections: [] };

describe('a template', () => {
  test('that nobody used was used 0 times', () => {
    expect(planTemplate(aTemplate(), NOBODY)).toMatchObject({ status: { usageCount: 0 }, summary: { is: 'ready' } });
  });

  test('was last used when the newest of its collections was made', () => {
    const collections = ['2026-03-01T12:00:00Z', '2026-03-03T12:00:00Z', '2026-03-02T12:00:00Z'].map(aCollection);
    expect(planTemplate(aTemplate(), { collections }).status).toEqual({
      usageCount: 3,
      lastUsed: '2026-03-03T12:00:00Z',
    });
  });

  test('remembers when it was used after the collection is gone', () => {
    const used = aTemplate({}, { status: { usageCount: 1, lastUsed: '2026-03-03T12:00:00Z', conditions: [] } });
    expect(planTemplate(used, NOBODY).status).toEqual({ usageCount: 0, lastUsed: '2026-03-03T12:00:00Z' });
    const collections = [aCollection('2026-03-01T12:00:00Z')];
    expect(planTemplate(used, { collections }).status).toEqual({ usageCount: 1, lastUsed: '2026-03-03T12:00:00Z' });
  });

  test('of the name of none is not used by collections that have none', () => {
    const none = aTemplate({ name: 'none' }, { metadata: { name: 'none' } });
    expect(planTemplate(none, { collections: [aCollection('2026-03-01T12:00:00Z')] })).toMatchObject({
      status: { usageCount: 0 },
      summary: { is: 'stalled', reason: 'NameUnusable' },
    });
  });
});

describe('its author is told', () => {
  test.each([
    [
      'that it is found by another name than the one it gives itself',
      aTemplate({ name: 'tiny' }),
      'NameMismatch',
      'spec.name is tiny, but collections find the template as small; both must be the same',
    ],
    [
      'that its name does not fit into a label',
      aTemplate({ name: 'x'.repeat(64) }, { metadata: { name: 'x'.repeat(64) } }),
      'NameUnusable',
      'metadata.name must have at most 63 characters: it is put into a label',
    ],
    [
      'that Qdrant does not know such a quantization',
      aTemplate({ vectors: { quantization: { scalar: { type: 'int8' }, product: { compression: 'x4' } } } }),
      'InvalidSpec',
      'spec.vectors.quantization has scalar and product; Qdrant takes one of them',
    ],
    [
      'that there is no such time',
      aTemplate({ backup: { schedule: '61 * * * *' } }),
      'InvalidSpec',
      'spec.backup.schedule must be a valid cron expression: end of range (61) above maximum (59): 61',
    ],
    [
      'what the schema says, where nobody checked it',
      aTemplate({ shards: 0 }),
      'InvalidSpec',
      /^spec\.shards: must be /,
    ],
  ])('%s', (_, template, reason, because) => {
    const { summary } = planTemplate(template, NOBODY);
    expect(summary).toEqual({
      is: 'stalled',
      reason,
      because: typeof because === 'string' ? because : expect.stringMatching(because),
    });
  });
});
