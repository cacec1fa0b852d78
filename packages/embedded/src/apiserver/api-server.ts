import { type Clock, systemClock, type Transport, type TransportRequest, type TransportResponse } from '@polder/kube';
import { webhookAdmission } from './admission/index.ts';
import { BUILTIN_KINDS } from './builtin/index.ts';
import { builtinResource } from './builtin-resources.ts';
import { type Core, uuid } from './core.ts';
import { CustomResources, withDefinitionRules } from './custom-resources/index.ts';
import { createDefaultObjects } from './default-objects.ts';
import { Faults } from './faults/index.ts';
import { type Follower, follow } from './follow.ts';
import { endable, inProcessTransport } from './in-process-transport.ts';
import { type Listener, type ListenOptions, listen } from './listen/index.ts';
import type { Column, ServedKind } from './served-kind.ts';
import { ServedKinds } from './served-kinds.ts';
import { notFound } from './status.ts';
import { memoryStorage, type Storage } from './storage/index.ts';
import type { PodLogs } from './verbs/pods.ts';
import { ObjectStore } from './watch/index.ts';
import { postOverSocket, type ServiceResolver, type WebhookPost, webhookCaller } from './webhooks/index.ts';
import { handle } from './wire/handle.ts';

export interface ApiServerOptions {
  /** The system's unless told otherwise. */
  readonly clock?: Clock;
  /** Uids, generated names and audit ids come from here: seeded, the server answers the same bytes every time. */
  readonly random?: () => number;
  /** In memory unless told otherwise. */
  readonly storage?: Storage;
  /** How many changes of each resource are kept for watches and pages. */
  readonly historyLimit?: number;
  /** What containers have written; without it no pod has logs. */
  readonly podLogs?: PodLogs;
  /** Columns of `kubectl get` beyond those of the real server, by the plural of a built-in kind. */
  readonly moreColumns?: Readonly<Record<string, readonly Column[]>>;
  /** Where services of webhooks are; without it only webhooks with a `url` can be called. */
  readonly resolveService?: ServiceResolver;
  /** How webhooks are called: over a socket unless told otherwise. */
  readonly postToWebhook?: WebhookPost;
}

export interface ApiServer {
  /** Trouble on demand. */
  readonly faults: Faults;
  /** The version of the last write. */
  readonly revision: number;
  /** What is served at this moment, in every version; the same array until that changes. */
  readonly kinds: readonly ServedKind[];
  handle(request: TransportRequest): Promise<TransportResponse>;
  /**
   * Tells of every object of every kind, custom ones too: of those that are there, then of each change within its write.
   * Returns how to stop.
   */
  follow(follower: Follower): () => void;
  /** Hands requests over in the same process. */
  transport(): Transport;
  /** Serves over TLS on 127.0.0.1. */
  listen(options?: ListenOptions): Promise<Listener>;
  /** Forgets all history: watches and pages from before now are `Expired`. */
  compact(): void;
  /** Breaks open watches and closes the storage. */
  close(): void;
}

const HISTORY_LIMIT = 5_000;

export function createApiServer(options: ApiServerOptions = {}): ApiServer {
  const { clock = systemClock, random = Math.random } = options;
  const store = new ObjectStore(options.storage ?? memoryStorage(), options.historyLimit ?? HISTORY_LIMIT);
  const kinds = new ServedKinds();
  for (const kind of BUILTIN_KINDS) {
    const columns = [...kind.columns, ...(options.moreColumns?.[kind.plural] ?? [])];
    kinds.add(builtinResource(withDefinitionRules({ ...kind, columns }), store));
  }
  const webhooks = webhookCaller({
    clock,
    random,
    post: options.postToWebhook ?? postOverSocket,
    resolve: options.resolveService,
  });
  new CustomResources(store, kinds, clock, webhooks).follow();
  const core: Core = {
    store,
    kinds,
    clock,
    random,
    admission: webhookAdmission(store, webhooks),
    faults: new Faults(),
    podLogs: options.podLogs ?? noLogs,
    fairness: { flowSchema: uuid(random), priorityLevel: uuid(random) },
  };
  createDefaultObjects(core);
  const serving = endable((request) => handle(core, request), 'the server was closed');
  return {
    faults: core.faults,
    get revision() {
      return store.revision;
    },
    get kinds() {
      return kinds.all;
    },
    handle: serving.handle,
    follow: (follower) => follow(store, kinds, follower),
    transport: () => inProcessTransport(serving.handle),
    listen: (where) => listen(serving.handle, clock, where),
    compact: () => store.compact(),
    close() {
      serving.end();
      store.close();
    },
  };
}

/** As the real server answers when it does not find the node. */
const noLogs: PodLogs = async ({ pod }) => {
  throw notFound({ group: '', plural: 'nodes', kind: 'Node' }, pod.metadata.name);
};
