import type { Json } from '../../api/index.ts';
import type { SaysWhere } from '../../backup/storage.ts';
import type { QdrantCluster, RestorePart } from '../../kinds/index.ts';

/** Which peer is told. */
export interface Through {
  readonly cluster: QdrantCluster;
  readonly pod: string;
}

/** What is done for a restore beyond writing down how far it is. */
export type RestoreStep =
  | {
      readonly do: 'create-collection';
      readonly because: string;
      readonly via: Through;
      readonly collection: string;
      /** As the server takes it. */
      readonly config: object;
    }
  /** Parts of a collection that points are sent to by name: its shards get the next numbers. */
  | {
      readonly do: 'create-shard-key';
      readonly because: string;
      readonly via: Through;
      readonly collection: string;
      readonly key: string | number;
      readonly shards: number;
      readonly copies: number;
    }
  /** Makes a file the content of one shard, or of all shards that it has. */
  | {
      readonly do: 'upload-part';
      readonly because: string;
      /** The peer that gets it. */
      readonly via: Through;
      readonly collection: string;
      readonly part: RestorePart;
      readonly key: string;
      readonly bucket: SaysWhere;
      /** Peers whose copies are marked dead by it, and filled again. */
      readonly others: readonly string[];
    }
  | {
      readonly do: 'write-points';
      readonly because: string;
      readonly via: Through;
      readonly collection: string;
      readonly points: readonly Json[];
    }
  | {
      readonly do: 'create-aliases';
      readonly because: string;
      readonly via: Through;
      readonly collection: string;
      readonly aliases: readonly string[];
    }
  /** The one that was made for this restore, by the name that was written down before it was. */
  | {
      readonly do: 'delete-temporary';
      readonly because: string;
      readonly via: Through;
      readonly collection: string;
    };
