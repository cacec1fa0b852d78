import { TransportError } from '@polder/kube';
import type { ServedKind } from '../served-kind.ts';
import { expired } from '../status.ts';
import type { Watcher } from '../watch/index.ts';

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection';

/** What a request is about. */
export interface Circumstances {
  readonly verb: Verb;
  readonly kind: Pick<ServedKind, 'group' | 'plural' | 'kind'>;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
  readonly userAgent: string;
}

/** Which requests a fault is for. What is left out fits everything. */
export interface FaultMatch {
  readonly verb?: Verb;
  readonly group?: string;
  readonly plural?: string;
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
  /** The whole of it: to trouble one client among several. */
  readonly userAgent?: string;
  /** How many requests it hits; all of them unless told otherwise. */
  readonly count?: number;
}

export type Fault =
  /** The connection is closed: before any answer, or at the clean end of a watch. */
  | { readonly do: 'close' }
  /** The connection breaks: in the middle of a watch, or before any answer. */
  | { readonly do: 'reset' }
  /** No answer ever, or a watch that sends nothing more, not even bookmarks. */
  | { readonly do: 'silence' }
  /** 410; on a watch as an ERROR event. */
  | { readonly do: 'expire' }
  /** 429. */
  | { readonly do: 'throttle'; readonly retryAfterSeconds: number }
  /** 500, before anything was done or after everything was. */
  | { readonly do: 'fail'; readonly when: 'before' | 'after' }
  /** The answer, or the first byte of a watch, takes so long. */
  | { readonly do: 'slow'; readonly ms: number }
  /** Events of a watch come so much later. */
  | { readonly do: 'delay'; readonly ms: number }
  /** Events of a watch come twice. */
  | { readonly do: 'duplicate' }
  /** Reads answer as if it were still that revision. */
  | { readonly do: 'stale'; readonly revision: number };

interface Rule {
  readonly match: FaultMatch;
  readonly fault: Fault;
  left: number;
}

/**
 * Trouble on demand, for tests: `faults.on({ verb: 'watch', plural: 'pods' }, { do: 'silence' })`. A fault for watches
 * also hits those that are open already.
 */
export class Faults {
  readonly #rules = new Set<Rule>();
  readonly #watches = new Map<Watcher, Circumstances>();

  /** Returns how to take the fault back. */
  on(match: FaultMatch, fault: Fault): () => void {
    const rule: Rule = { match, fault, left: match.count ?? Number.POSITIVE_INFINITY };
    this.#rules.add(rule);
    if (match.verb === 'watch') {
      for (const [watcher, circumstances] of this.#watches) {
        if (fits(match, circumstances) && this.#use(rule)) disturb(watcher, fault);
      }
    }
    return () => this.#rules.delete(rule);
  }

  /** Takes all faults back. What they did to open watches stays done. */
  clear(): void {
    this.#rules.clear();
  }

  /** The faults that hit a request, each used up once by it. */
  take(circumstances: Circumstances): readonly Fault[] {
    return [...this.#rules]
      .filter((rule) => fits(rule.match, circumstances) && this.#use(rule))
      .map(({ fault }) => fault);
  }

  /** Keeps a watch within reach of later faults; returns how to let go of it. */
  register(watcher: Watcher, circumstances: Circumstances, faults: readonly Fault[]): () => void {
    this.#watches.set(watcher, circumstances);
    for (const fault of faults) disturb(watcher, fault);
    return () => this.#watches.delete(watcher);
  }

  #use(rule: Rule): boolean {
    if (rule.left <= 0) return false;
    rule.left--;
    if (rule.left === 0) this.#rules.delete(rule);
    return true;
  }
}

function fits(match: FaultMatch, { verb, kind, namespace, name, subresource, userAgent }: Circumstances): boolean {
  const isSame = <T>(wanted: T | undefined, actual: T | undefined) => wanted === undefined || wanted === actual;
  return (
    isSame(match.verb, verb) &&
    isSame(match.group, kind.group) &&
    isSame(match.plural, kind.plural) &&
    isSame(match.kind, kind.kind) &&
    isSame(match.namespace, namespace) &&
    isSame(match.name, name) &&
    isSame(match.subresource, subresource) &&
    isSame(match.userAgent, userAgent)
  );
}

/** What a fault does to a watch that runs. The others are done before it starts. */
function disturb(watcher: Watcher, fault: Fault): void {
  switch (fault.do) {
    case 'close':
      return watcher.end();
    case 'reset':
      return watcher.break(new TransportError('the connection was reset', { sent: true }));
    case 'silence':
      return watcher.silence();
    case 'expire':
      return watcher.fail(expired('too old resource version: 1 (2)'));
    case 'delay':
      return watcher.interfere({ copies: 1, delayMs: fault.ms });
    case 'duplicate':
      return watcher.interfere({ copies: 2, delayMs: 0 });
    case 'throttle':
    case 'fail':
    case 'slow':
    case 'stale':
      return undefined;
  }
}
