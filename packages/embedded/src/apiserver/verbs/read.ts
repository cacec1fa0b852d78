import { sleep } from '@polder/kube';
import type { Core } from '../core.ts';
import { type ListOptions, type ListRequest, listPage, type Page } from '../list/index.ts';
import { parseFieldSelector, parseLabelSelector } from '../selectors/index.ts';
import type { WireObject } from '../served-kind.ts';
import { badRequest, notFound, StatusError, unnamed } from '../status.ts';
import { type Entry, Watcher, type WatchStart } from '../watch/index.ts';
import { type Call, keyIn, prefixIn } from './call.ts';
import { inServedVersion, oneInServedVersion } from './served-version.ts';

export async function get(call: Call): Promise<Entry> {
  const { core, served, name = '' } = call;
  const version = call.query.get('resourceVersion') ?? '';
  await reached(core, parseRevision(version, 'read'), call.signal);
  const cache = core.store.cache(served.resource);
  const key = keyIn(call, name);
  const entry = call.staleRevision === undefined ? cache.get(key) : cache.getAt(key, call.staleRevision);
  if (entry === undefined) throw notFound(served.kind, name);
  return oneInServedVersion(served, entry);
}

export async function list(call: Call, options: ListOptions): Promise<Page> {
  const { core, served } = call;
  await reached(core, parseRevision(options.resourceVersion, 'read'), call.signal);
  const asked: ListOptions =
    call.staleRevision === undefined
      ? options
      : { ...options, resourceVersion: String(call.staleRevision), resourceVersionMatch: 'Exact' };
  const page = listPage(core.store, listRequest(call, options), asked);
  return { ...page, entries: await inServedVersion(served, page.entries) };
}

export function watch(call: Call, options: ListOptions): Watcher {
  const { core, served } = call;
  const { selects } = listRequest(call, options);
  return new Watcher(core.store, core.clock, {
    resource: served.resource,
    prefix: prefixIn(call),
    selects,
    start: startOf(options),
    bookmarks: options.allowWatchBookmarks,
    timeoutMs: 1000 * (options.timeoutSeconds || LONGEST_WATCH_SECONDS * (1 + core.random())),
  });
}

/** Without a timeout of its own a watch ends after half an hour to an hour, so that clients spread over servers. */
const LONGEST_WATCH_SECONDS = 1800;

function startOf(options: ListOptions): WatchStart {
  const revision = parseRevision(options.resourceVersion, 'watch');
  if (options.sendInitialEvents === true) return { at: 'everything', announceEnd: true };
  if (revision > 0) return { at: 'revision', revision };
  return { at: 'everything', announceEnd: false };
}

export function listRequest(call: Call, options: Pick<ListOptions, 'labelSelector' | 'fieldSelector'>): ListRequest {
  const { served } = call;
  const labels = parseLabelSelector(options.labelSelector);
  const fields =
    options.fieldSelector === ''
      ? undefined
      : parseFieldSelector(options.fieldSelector, served.kind, served.selectableFields);
  // The old form of a watch can name an object in its path.
  const isSelective = options.labelSelector !== '' || fields !== undefined || call.name !== undefined;
  const isNamed = ({ metadata }: WireObject) => call.name === undefined || metadata.name === call.name;
  return {
    resource: served.resource,
    prefix: prefixIn(call),
    selects: isSelective
      ? (object: WireObject) => isNamed(object) && labels(object.metadata.labels) && (fields?.matches(object) ?? true)
      : () => true,
    isSelective,
    name: fields?.name,
  };
}

/** How long the real server waits for a version that it has not seen yet. */
const TOO_LARGE_AFTER = 3_000;

async function reached(core: Core, revision: number, signal: AbortSignal | undefined): Promise<void> {
  if (revision <= core.store.revision) return;
  const waiting = new AbortController();
  const stop = core.store.whenReached(revision, () => waiting.abort());
  const signals = signal === undefined ? waiting.signal : AbortSignal.any([waiting.signal, signal]);
  await sleep(core.clock, TOO_LARGE_AFTER, signals).catch(() => undefined);
  stop();
  if (revision <= core.store.revision) return;
  throw new StatusError(
    504,
    'Timeout',
    `Timeout: Too large resource version: ${revision}, current: ${core.store.revision}`,
    { causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }], retryAfterSeconds: 1 },
  );
}

/** The real server answers a malformed version with 400 on a list and with 500 on a watch. */
function parseRevision(text: string, verb: 'read' | 'watch'): number {
  if (text === '') return 0;
  if (/^\d+$/.test(text)) return Number(text);
  const why = `resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`;
  throw verb === 'watch' ? unnamed(why) : badRequest(`invalid resource version: ${why}`);
}
