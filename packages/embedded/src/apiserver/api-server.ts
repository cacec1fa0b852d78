import { type Clock, type Transport, type TransportRequest, type TransportResponse } from '@polder/kube';
import type { Core } from './core.ts';
import { CustomResources } from './custom-resources/index.ts';
import { type Listener, type ListenOptions, listen } from './listen/index.ts';
import type { ServedKind } from './served-kind.ts';
import { builtinResource, ServedKinds } from './served-kinds.ts';
import { memoryStorage, type Storage } from './storage/index.ts';
import { ObjectStore } from './watch/index.ts';
import { handle } from './wire/handle.ts';

export interface ApiServerOptions {
  readonly clock: Clock;
  /** Uids, generated names and audit ids come from here: seeded, the server answers the same bytes every time. */
  readonly random: () => number;
  /** In memory unless told otherwise. */
  readonly storage?: Storage;
  /** The built-in kinds to serve. */
  readonly kinds: readonly ServedKind[];
  /** How many changes of each resource are kept for watches and pages. */
  readonly historyLimit?: number;
}

export interface ApiServer {
  handle(request: TransportRequest): Promise<TransportResponse>;
  /** Hands requests over in the same process. */
  transport(): Transport;
  /** Serves over TLS on 127.0.0.1. */
  listen(options?: ListenOptions): Promise<Listener>;
  /** Forgets all history: watches and pages from before now are `Expired`. */
  compact(): void;
  close(): void;
}

const HISTORY_LIMIT = 5_000;

export function createApiServer(options: ApiServerOptions): ApiServer {
  const { clock, random } = options;
  const store = new ObjectStore(options.storage ?? memoryStorage(), options.historyLimit ?? HISTORY_LIMIT);
  const kinds = new ServedKinds();
  for (const kind of options.kinds) kinds.add(builtinResource(kind));
  const customResources = new CustomResources(store, kinds);
  const core: Core = { store, kinds, clock, random };
  void customResources;
  return {
    handle: (request) => handle(core, request),
    transport: () => ({ request: (request) => handle(core, request), close: async () => {} }),
    listen: (where) => listen((request) => handle(core, request), clock, where),
    compact: () => store.compact(),
    close: () => store.close(),
  };
}
