import type { AliasAction, JsonObject } from '../../api/index.ts';
import type { QdrantCollectionBackup, QdrantCollectionRestore } from '../../kinds/index.ts';

/** Which peer is told: the one that was asked. By names alone, so that a step carries only what it takes away. */
export interface Through {
  readonly namespace: string | undefined;
  readonly cluster: string;
  readonly pod: string;
}

interface Told {
  readonly because: string;
  readonly via: Through;
  readonly collection: string;
}

/** What is done for a collection beyond applying its objects. */
export type CollectionStep =
  | ({ readonly do: 'create-collection'; readonly body: JsonObject } & Told)
  /** Changes what can be changed, all of it at once. */
  | ({ readonly do: 'update-collection'; readonly patch: JsonObject } & Told)
  | ({
      readonly do: 'create-shard-key';
      readonly key: string;
      readonly shards: number;
      readonly copies: number;
    } & Told)
  /** From 1.18 on. */
  | ({
      readonly do: 'create-vector';
      readonly vector: string;
      readonly kind: 'dense' | 'sparse';
      readonly config: JsonObject;
    } & Told)
  | ({ readonly do: 'create-index'; readonly field: string; readonly type: string } & Told)
  | ({ readonly do: 'delete-index'; readonly field: string } & Told)
  | ({ readonly do: 'change-aliases'; readonly actions: readonly AliasAction[] } & Told)
  | ({ readonly do: 'delete-collection' } & Told)
  /** Backups or a restore that the spec does not ask for any more. */
  | {
      readonly do: 'remove-child';
      readonly because: string;
      readonly child: QdrantCollectionBackup | QdrantCollectionRestore;
    };

/** Those that a peer is told. */
export type ServerStep = Extract<CollectionStep, Told>;

export const isTold = (step: CollectionStep): step is ServerStep => 'via' in step;
