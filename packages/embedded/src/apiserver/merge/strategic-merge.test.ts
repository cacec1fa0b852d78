import { describe, expect, it } from 'vitest';
import { differences, kindOf, patchesOf, refusalOf } from './recorded-answers.ts';
import { applyStrategicMergePatch } from './strategic-merge.ts';
import { metadataOf } from './tracking.ts';

const recorded = patchesOf('strategic');

describe('a strategic merge patch', () => {
  it.each(recorded.filter(({ answer }) => answer))(
    'gives what the real server gives: $name',
    ({ live, patch, kind, answer = {} }) => {
      const patched = applyStrategicMergePatch(live, patch, kindOf(kind).schema);
      expect(differences(patched.spec, answer.spec)).toEqual([]);
      expect(metadataOf(patched).finalizers).toEqual(metadataOf(answer).finalizers);
    },
  );

  it.each(recorded.filter(({ error }) => error))(
    'is refused like by the real server: $name',
    ({ live, patch, kind, error }) => {
      expect(refusalOf(() => applyStrategicMergePatch(live, patch, kindOf(kind).schema))).toEqual(error);
    },
  );

  it('leaves no directive behind where there was nothing to patch', () => {
    const patch = {
      metadata: { '$setElementOrder/finalizers': ['a'], finalizers: ['a'], labels: { $patch: 'delete', x: '1' } },
      spec: {
        template: {
          spec: {
            containers: [
              { name: 'a', $patch: 'delete' },
              { name: 'b', $retainKeys: ['name'] },
            ],
          },
        },
      },
    };
    expect(applyStrategicMergePatch({}, patch, kindOf('Deployment').schema)).toEqual({
      metadata: { finalizers: ['a'] },
      spec: { template: { spec: { containers: [{ name: 'b' }] } } },
    });
  });

  it('brings no nulls and no directives along with a new item of a list', () => {
    const live = { spec: { template: { spec: { containers: [{ name: 'a', image: '1' }] } } } };
    const added = {
      name: 'b',
      image: '2',
      command: null,
      env: [{ name: 'E', value: null }],
      '$setElementOrder/env': [{ name: 'E' }],
    };
    const patch = { spec: { template: { spec: { containers: [added] } } } };
    expect(applyStrategicMergePatch(live, patch, kindOf('Deployment').schema)).toEqual({
      spec: {
        template: {
          spec: {
            containers: [
              { name: 'b', image: '2', env: [{ name: 'E' }] },
              { name: 'a', image: '1' },
            ],
          },
        },
      },
    });
  });

  it('does not touch the object that it is applied to', () => {
    for (const { live, patch, kind } of recorded.filter(({ answer }) => answer)) {
      const before = JSON.stringify(live);
      applyStrategicMergePatch(live, patch, kindOf(kind).schema);
      expect(JSON.stringify(live)).toBe(before);
    }
  });
});
