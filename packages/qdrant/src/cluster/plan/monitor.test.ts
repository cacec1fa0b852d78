import { describe, expect, test } from 'vitest';
import { aCluster, CLUSTER_UID, look, NOW } from '../../../test/states.ts';
import type { ClusterSpec } from '../../kinds/index.ts';
import { DEFAULTS } from '../../settings.ts';
import type { ServiceMonitor } from '../foreign-kinds.ts';
import { serviceMonitor } from '../objects/index.ts';
import type { Observed } from '../observe.ts';
import { planCluster } from './index.ts';

const enabled = { metrics: { serviceMonitor: { enabled: true } } };

function plan(spec: Partial<ClusterSpec>, monitor: Observed['monitor']) {
  const { cluster, observed } = look({ spec });
  return planCluster(cluster, { ...observed, monitor }, DEFAULTS, NOW);
}

const owner = { apiVersion: 'qdrant.operator/v1alpha1', kind: 'QdrantCluster', name: 'vectors', uid: CLUSTER_UID };
const there = (spec: object = {}, ownerReferences = [owner]): Observed['monitor'] => {
  const made = serviceMonitor(aCluster(enabled));
  const value: ServiceMonitor = {
    ...made,
    metadata: { ...made.metadata, ownerReferences },
    spec: { ...made.spec, ...spec },
  };
  return { known: true, value };
};
const named = ({ steps }: ReturnType<typeof plan>) => steps.map((step) => step.do);

describe('metrics are scraped', () => {
  test('if it is wanted: made once, mended if changed, removed if it is no longer wanted', () => {
    expect(named(plan(enabled, { known: true, value: undefined }))).toEqual(['write-monitor']);
    expect(named(plan(enabled, there({ addedByTheServer: true })))).toEqual([]);
    expect(named(plan(enabled, there({ endpoints: [] })))).toEqual(['write-monitor']);
    expect(named(plan({}, there()))).toEqual(['remove-monitor']);
  });

  test("but what is somebody else's is left alone", () => {
    const stranger = [{ ...owner, uid: 'another' }];
    expect(named(plan(enabled, there({ endpoints: [] }, stranger)))).toEqual([]);
    expect(named(plan({}, there({}, stranger)))).toEqual([]);
  });

  test('with the key that may only read, and by a name that the certificate has', () => {
    const cluster = aCluster({ apikey: 'true', readApikey: 'true', tls: { enabled: true } });
    expect(serviceMonitor(cluster).spec['endpoints']).toMatchObject([
      {
        scheme: 'https',
        authorization: { credentials: { name: 'vectors-read-apikey', key: 'api-key' } },
        tlsConfig: { serverName: 'vectors.shop', ca: { secret: { name: 'vectors-server-cert', key: 'cacert.pem' } } },
      },
    ]);
  });

  test('where they can be; elsewhere that is told, and nothing else is wrong', () => {
    const missing = plan(enabled, { known: false, because: 'nobody installed servicemonitors.monitoring.coreos.com' });
    expect(missing.conditions).toMatchObject([{ type: 'ServiceMonitor', status: 'False', reason: 'Unavailable' }]);
    expect(missing.summary).toEqual({ is: 'ready' });
  });
});
