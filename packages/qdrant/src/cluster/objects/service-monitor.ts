import type { QdrantCluster } from '../../kinds/index.ts';
import { ServiceMonitor } from '../foreign-kinds.ts';
import { KEY } from './api-key-secret.ts';
import { BUNDLE } from './certificate-secrets.ts';
import { identityOf, namesOf, namespaceOf, selectorOf } from './identity.ts';
import { HEADLESS_LABEL } from './services.ts';

/** Every peer is scraped, by the headless Service. With the key that may only read, if there is one. */
export function serviceMonitor(cluster: QdrantCluster): ServiceMonitor {
  const { apikey = 'false', readApikey = 'false', tls } = cluster.spec;
  const names = namesOf(cluster);
  const secret = readApikey !== 'false' ? names.readKey : apikey !== 'false' ? names.apiKey : undefined;
  const namespace = namespaceOf(cluster);
  const ca = { secret: { name: tls?.secretName ?? names.certificate, key: BUNDLE } };
  return {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: ServiceMonitor.kind,
    metadata: identityOf(cluster, names.monitor),
    spec: {
      selector: { matchLabels: { ...selectorOf(cluster), ...HEADLESS_LABEL } },
      namespaceSelector: { matchNames: [namespace] },
      endpoints: [
        {
          port: 'http',
          path: '/metrics',
          interval: '30s',
          scrapeTimeout: '10s',
          scheme: tls?.enabled ? 'https' : 'http',
          ...(secret !== undefined && { authorization: { type: 'Bearer', credentials: { name: secret, key: KEY } } }),
          // Prometheus comes by the address of a pod, which no certificate names.
          ...(tls?.enabled && { tlsConfig: { ca, serverName: `${names.service}.${namespace}` } }),
        },
      ],
    },
  };
}

/** The condition that tells of it. */
export const MONITORED = 'ServiceMonitor';

/** Whether there was one when the status was written. */
export const isMonitored = ({ status }: QdrantCluster): boolean =>
  status?.conditions?.some(({ type, status: is }) => type === MONITORED && is === 'True') ?? false;
