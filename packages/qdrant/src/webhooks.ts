/** What the API server asks before it stores a resource of ours. */
import { type Cached, type CustomKind, type SpecJudgement, validatingSpecs, type Webhook } from '@polder/kube';
import { judgeCluster } from './cluster/judgement.ts';
import { judgeCollection } from './collection/judgement.ts';
import { QdrantCluster, QdrantCollection, QdrantCollectionBackup, QdrantCollectionTemplate } from './kinds/index.ts';
import { objectionToSchedule } from './schedules.ts';

export interface KindWebhook {
  readonly kind: CustomKind;
  readonly webhook: Webhook;
}

export function webhooks(cached: Cached): readonly KindWebhook[] {
  return [
    {
      kind: QdrantCluster,
      webhook: validatingSpecs(QdrantCluster, (cluster, old) => {
        const { namespace, name } = cluster.metadata;
        const collections = cached.list(QdrantCollection, namespace).filter(({ spec }) => spec.cluster === name);
        return judgeCluster(cluster, old, collections);
      }),
    },
    {
      kind: QdrantCollection,
      webhook: validatingSpecs(QdrantCollection, (collection, old) => {
        const clusters = cached.list(QdrantCluster, collection.metadata.namespace);
        const cluster = clusters.find(({ metadata }) => metadata.name === collection.spec.cluster);
        return judgeCollection(collection, old, cluster);
      }),
    },
    {
      kind: QdrantCollectionBackup,
      webhook: validatingSpecs(QdrantCollectionBackup, ({ spec }) =>
        judged(objectionToSchedule('spec.snapshots.backupSchedule', spec.snapshots.backupSchedule)),
      ),
    },
    {
      kind: QdrantCollectionTemplate,
      webhook: validatingSpecs(QdrantCollectionTemplate, ({ spec }) =>
        judged(objectionToSchedule('spec.backup.schedule', spec.backup?.schedule)),
      ),
    },
  ];
}

const judged = ([objection]: readonly string[]): SpecJudgement => ({ objection, warnings: [] });
