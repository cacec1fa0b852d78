import {
  ApiError,
  isExpired,
  isInvalid,
  isTooManyRequests,
  isVersionTooLarge,
  TransportError,
} from '../client/index.ts';

/**
 * What a reflector does next. The whole of its recovery is the function `next` below: every arm of it answers one way in
 * which the last step ended, and none of them ends the reflector.
 */
export type State =
  /** One request that brings everything there is and then what changes (Kubernetes 1.32 and from 1.34 on). */
  | { readonly do: 'stream' }
  /**
   * Pages, of the newest state there is. (An older one would do for most, and cost the server less; but a store that begins
   * before our own last writes would hand out what they have replaced.)
   */
  | { readonly do: 'list' }
  /** What changes after `from`. */
  | { readonly do: 'watch'; readonly from: string };

export type Ending =
  /** The list is complete at this version. */
  | { readonly ended: 'listed'; readonly version: string }
  /** The server closed the watch, as it does every few minutes; `version` is the last one it told us. */
  | { readonly ended: 'closed'; readonly version: string; readonly wasUseless: boolean }
  /** Not a byte for longer than the server's bookmarks are apart: the connection is dead and nobody will tell us. */
  | { readonly ended: 'silent'; readonly version: string | undefined }
  | { readonly ended: 'failed'; readonly error: unknown; readonly version: string | undefined };

export interface Next {
  readonly state: State;
  /** Wait first, longer each time. */
  readonly backOff: boolean;
  /** The server can't stream lists; do not ask this one again. */
  readonly cannotStream?: true;
}

/** `canStream` is false once the server has refused to. */
export function next(state: State, ending: Ending, canStream: boolean): Next {
  const fromScratch: State = canStream ? { do: 'stream' } : { do: 'list' };
  switch (ending.ended) {
    case 'listed':
      return { state: { do: 'watch', from: ending.version }, backOff: false };
    case 'closed':
      // A watch that ends at once without a word would otherwise be asked for in a loop.
      return { state: { do: 'watch', from: ending.version }, backOff: ending.wasUseless };
    case 'silent':
      return { state: resumeFrom(ending.version) ?? fromScratch, backOff: false };
    case 'failed':
      break;
  }
  const { error, version } = ending;
  if (state.do === 'stream' && (isInvalid(error) || (error instanceof ApiError && error.status === 400))) {
    return { state: { do: 'list' }, backOff: false, cannotStream: true };
  }
  // What we know is too old for the server, or too new: another server answered before. Only the newest state will do.
  if (isExpired(error) || isVersionTooLarge(error)) return { state: fromScratch, backOff: state.do !== 'watch' };
  // The server is overloaded or away. Our version is as good as it was; a list would only add to its load.
  if (isTooManyRequests(error) || error instanceof TransportError || isServerFault(error)) {
    return { state: resumeFrom(version) ?? state, backOff: true };
  }
  return { state: fromScratch, backOff: true };
}

function resumeFrom(version: string | undefined): State | undefined {
  return version === undefined ? undefined : { do: 'watch', from: version };
}

const isServerFault = (error: unknown) => error instanceof ApiError && error.status >= 500;

/**
 * How long to wait after the n-th failure in a row: about a quarter of the time that the trouble has lasted already, so
 * that an outage is over for us soon after it is over, and a long one does not make us a burden. At most 30 s, less up to a
 * half. (An API server that restarts is away for 8 s or so: back within 2 s of it.)
 */
export function backoffMs(failures: number, random: number): number {
  return Math.min(100 * 1.25 ** (failures - 1), 30_000) * (1 - random / 2);
}
