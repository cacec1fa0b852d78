import type { Core } from '../core.ts';
import type { ServedResource } from '../served-kinds.ts';

/** One request on its way through a verb. */
export interface Call {
  readonly core: Core;
  readonly served: ServedResource;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
  readonly query: URLSearchParams;
  readonly userAgent: string;
  readonly signal: AbortSignal | undefined;
  /** Set by a fault: answer reads as if it were still this revision. */
  readonly staleRevision?: number | undefined;
  /** Told to the client in `warning` headers. */
  readonly warnings: string[];
}

/** `namespace/name`, or `name`. */
export function keyIn(call: Pick<Call, 'namespace'>, name: string): string {
  return call.namespace === undefined ? name : `${call.namespace}/${name}`;
}

/** All keys of the collection that was called. */
export function prefixIn(call: Pick<Call, 'namespace'>): string {
  return call.namespace === undefined ? '' : `${call.namespace}/`;
}
