import { describe, expect, test } from 'vitest';
import { type Look, look, NOW } from '../../../test/states.ts';
import { DEFAULTS } from '../../settings.ts';
import { planCluster } from './index.ts';

function told(given: Look) {
  const { cluster, observed } = look(given);
  const { status, summary, lookAgain } = planCluster(cluster, observed, DEFAULTS, NOW);
  return { status, summary, lookAgain };
}

describe('a cluster is healthy', () => {
  test('if all of its peers are members, and all is as it should be', () => {
    expect(told({})).toMatchObject({ status: { qdrantStatus: 'Healthy' }, summary: { is: 'ready' } });
  });

  test('only then: a pod that is ready, and whose peer has not joined, is looked at again soon', () => {
    expect(told({ members: [0, 1], views: { 2: 'silent' } })).toMatchObject({
      status: { qdrantStatus: 'Running' },
      summary: { is: 'reconciling', reason: 'PeersNotJoined', because: '2 of 3 peers have joined' },
      lookAgain: { afterMs: DEFAULTS.intervals.progressMs },
    });
  });
});
