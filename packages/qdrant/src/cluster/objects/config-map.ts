import type { ConfigMap } from '@polder/kube';
import { stringify } from 'yaml';
import type { QdrantCluster } from '../../kinds/index.ts';
import { identityOf, namesOf } from './identity.ts';
import type { Workload } from './workload.ts';

export const CONFIG_FILE = 'production.yaml';

/**
 * Through whom a peer joins. It is read when a container starts and not part of the template of pods: so it can change
 * without a restart, and a peer that comes with an empty volume reads what holds at that moment.
 */
export const BOOTSTRAP = 'bootstrap';

export function configMap(cluster: QdrantCluster, { bootstrap }: Workload): ConfigMap {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: identityOf(cluster, namesOf(cluster).config),
    data: { [BOOTSTRAP]: bootstrap, [CONFIG_FILE]: configFile(cluster) },
  };
}

export const configFile = ({ spec }: QdrantCluster): string =>
  spec.config === undefined ? '' : stringify(spec.config, { sortMapEntries: true });
