/** By what objects are found that belong to a cluster: a pass that went through a whole namespace would cost more with every cluster in it. */
import { type Index, keyOf, type ObjectRef, PersistentVolumeClaim, Pod } from '@polder/kube';
import { NAME_LABEL, VOLUMES } from './cluster/objects/index.ts';
import { QdrantCluster, QdrantCollection, QdrantCollectionRestore } from './kinds/index.ts';

/** Under which an index has what belongs to a cluster. */
export const keyIn = (namespace: string | undefined, name: string): string =>
  keyOf({ ...(namespace !== undefined && { namespace }), name } satisfies ObjectRef);

export const collectionsByCluster: Index<QdrantCollection> = {
  kind: QdrantCollection,
  name: 'cluster',
  valuesOf: ({ metadata, spec }) => [keyIn(metadata.namespace, spec.cluster)],
};

export const restoresByCluster: Index<QdrantCollectionRestore> = {
  kind: QdrantCollectionRestore,
  name: 'cluster',
  valuesOf: ({ metadata, spec }) => [keyIn(metadata.namespace, spec.cluster)],
};

/** Clusters whose certificates users bring themselves, by the Secret. */
export const clustersByCertificate: Index<QdrantCluster> = {
  kind: QdrantCluster,
  name: 'certificate',
  valuesOf: ({ metadata, spec }) =>
    spec.tls?.secretName === undefined ? [] : [keyIn(metadata.namespace, spec.tls.secretName)],
};

export const podsByCluster: Index<Pod> = {
  kind: Pod,
  name: NAME_LABEL,
  valuesOf: ({ metadata }) => {
    const cluster = metadata.labels?.[NAME_LABEL];
    return cluster === undefined ? [] : [keyIn(metadata.namespace, cluster)];
  },
};

const CLAIM = new RegExp(`^(?:${Object.values(VOLUMES).join('|')})-(?<cluster>.+)-\\d+$`);

/** By their names, as a StatefulSet makes them: nobody can take those away. */
export const claimsByCluster: Index<PersistentVolumeClaim> = {
  kind: PersistentVolumeClaim,
  name: 'cluster',
  valuesOf: ({ metadata }) => {
    const cluster = CLAIM.exec(metadata.name)?.groups?.['cluster'];
    return cluster === undefined ? [] : [keyIn(metadata.namespace, cluster)];
  },
};
