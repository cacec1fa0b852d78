/** The ways into a cluster, for every controller that has something to say to it. */
import { type Cluster, Secret } from '@polder/kube';
import type { Door } from './api/index.ts';
import { decoded, HTTP_PORT, KEY, namesOf, namespaceOf, PREVIOUS_KEY, urlOf } from './cluster/objects/index.ts';
import type { QdrantCluster } from './kinds/index.ts';

/** What opens the peers of a cluster. */
export interface Keyring {
  readonly apiKey: Secret | undefined;
  readonly certificate: Secret | undefined;
}

export interface Doors {
  /** To the peer in a pod, ready or not: for what is different on each of them. */
  peer(pod: string): Door;
  /** To whichever peer is ready: for what all of them agree on. */
  readonly cluster: Door;
}

export async function keyringOf(cluster: QdrantCluster, kubernetes: Cluster): Promise<Keyring> {
  const names = namesOf(cluster);
  const at = (name: string) => ({ namespace: namespaceOf(cluster), name });
  return {
    apiKey: await kubernetes.get(Secret, at(names.apiKey)),
    certificate: await kubernetes.get(Secret, at(cluster.spec.tls?.secretName ?? names.certificate)),
  };
}

/** A key that was just taken away is still asked for by peers that did not restart: whatever keys there are, are tried. */
export function doorsOf(cluster: QdrantCluster, { apiKey, certificate }: Keyring): Doors {
  const keys = [decoded(apiKey, KEY), decoded(apiKey, PREVIOUS_KEY)].filter((key) => key !== undefined);
  const authority = decoded(certificate, 'cacert.pem');
  const scheme = cluster.spec.tls?.enabled ? 'https' : 'http';
  const service = `${namesOf(cluster).service}.${namespaceOf(cluster)}`;
  return {
    peer: (pod) => ({ url: urlOf(cluster, pod), keys, authority }),
    cluster: { url: `${scheme}://${service}:${HTTP_PORT}`, keys, authority },
  };
}
