import type { WireObject } from '../served-kind.ts';
import { badRequest, StatusError } from '../status.ts';
import type { Entry, ObjectStore } from '../watch/index.ts';
import { decodePosition, encodePosition } from './continue-token.ts';
import type { ListOptions } from './list-options.ts';

export interface ListRequest {
  readonly resource: string;
  /** `namespace/`, or empty for all. */
  readonly prefix: string;
  readonly selects: (object: WireObject) => boolean;
  /** With a selector the server cannot tell how many are left without looking at all of them, and does not. */
  readonly isSelective: boolean;
  /** Set if only one name can match: then it is a read. */
  readonly name?: string | undefined;
}

export interface Page {
  readonly entries: readonly Entry[];
  readonly revision: number;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

/** One page, consistent with the first page of the same list. The revision asked for has been reached before. */
export function listPage(store: ObjectStore, request: ListRequest, options: ListOptions): Page {
  const { revision, after } = startOf(options, store.revision);
  const entries = snapshot(store, request, revision, options, after);
  const limit = limitOf(options);
  const page: Entry[] = [];
  let remaining = 0;
  let isCut = false;
  for (const entry of entries) {
    if (after !== undefined && entry.key.slice(request.prefix.length) <= after) continue;
    if (!request.selects(entry.object)) continue;
    if (limit > 0 && page.length === limit) {
      isCut = true;
      if (request.isSelective) break;
      remaining++;
    } else {
      page.push(entry);
    }
  }
  const last = page.at(-1);
  if (!isCut || last === undefined) return { entries: page, revision };
  return {
    entries: page,
    revision,
    continue: encodePosition({ revision, after: last.key.slice(request.prefix.length) }),
    ...(!request.isSelective && { remainingItemCount: remaining }),
  };
}

function startOf(options: ListOptions, current: number): { revision: number; after?: string } {
  if (options.continue !== '') {
    if (options.resourceVersion !== '' && options.resourceVersion !== '0') {
      throw badRequest('specifying resource version is not allowed when using continue');
    }
    const { revision, after } = decodePosition(options.continue);
    return { revision: revision < 0 ? current : revision, after };
  }
  const wanted = Number(options.resourceVersion);
  const isExact =
    options.resourceVersionMatch === 'Exact' || (options.resourceVersionMatch === '' && options.limit > 0);
  return { revision: isExact && wanted > 0 ? wanted : current };
}

/** A list at version 0 is answered from the cache of the real server, which knows no pages. */
function limitOf({ resourceVersion, resourceVersionMatch, limit, continue: token }: ListOptions): number {
  return resourceVersion === '0' && resourceVersionMatch === '' && token === '' ? 0 : Math.max(0, limit);
}

function snapshot(
  store: ObjectStore,
  { resource, prefix, name }: ListRequest,
  revision: number,
  options: ListOptions,
  after: string | undefined,
): Iterable<Entry> {
  const cache = store.cache(resource);
  if (revision === store.revision) {
    // Asked for one name in one namespace, as `kubectl get -w` does: that is a read.
    const only = name === undefined || prefix === '' ? undefined : cache.get(`${prefix}${name}`);
    return only === undefined ? cache.entries(prefix) : [only];
  }
  try {
    return cache.entriesAt(prefix, revision);
  } catch (error) {
    if (!(error instanceof StatusError) || options.continue === '' || after === undefined) throw error;
    throw expiredToken(encodePosition({ revision: -1, after }));
  }
}

/** The real server hands out a token to go on with, for those who can live with an inconsistent rest. */
function expiredToken(token: string): StatusError {
  return new StatusError(
    410,
    'Expired',
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without ' +
      'the continue parameter, or use the continue token in this response to retrieve the remainder of the results. ' +
      'Continuing with the provided token results in an inconsistent list - objects that were created, modified, or ' +
      'deleted between the time the first chunk was returned and now may show up in the list.',
    undefined,
    { continue: token },
  );
}
