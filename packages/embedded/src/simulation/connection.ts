import { setMaxListeners } from 'node:events';
import { type Clock, sleep, type Transport, type TransportRequest, type TransportResponse } from '@polder/kube';
import type { ApiServer } from '../apiserver/index.ts';
import type { Random } from './random.ts';
import type { Trace } from './trace.ts';

/** What a request asks for. Leases and events are told apart: they are written by processes that have nothing to do. */
export type Purpose = 'read' | 'work' | 'lease' | 'event';

export function purposeOf({ method, path }: Pick<TransportRequest, 'method' | 'path'>): Purpose {
  if (method === 'GET' || path.includes('dryRun=All') || /reviews(\?|$)/.test(path)) return 'read';
  if (isLease(path)) return 'lease';
  return /\/events(\/|\?|$)/.test(path) ? 'event' : 'work';
}

const isLease = (path: string) => /\/leases(\/|\?|$)/.test(path);

export interface ConnectionOptions {
  /** Whose it is: sent as the user agent, so that faults can be meant for this client alone. */
  readonly name: string;
  readonly server: Pick<ApiServer, 'handle'>;
  /** What is on its way keeps moving even if the process that sent it is dead. */
  readonly networkClock: Clock;
  /** By this one answers and events come in. */
  readonly processClock: Clock;
  readonly random: Random;
  readonly trace: Trace;
  /** Called before a request leaves; what it returns is called once the server has carried it out. */
  readonly onRequest: (request: TransportRequest) => () => void;
}

/**
 * The way of one process to the API server. Every request, every answer and every batch of watch events takes a while of its
 * own, drawn from the seed: that is what brings the requests of different processes, and of one, into ever new orders.
 */
export class Connection implements Transport {
  readonly #options: ConnectionOptions;
  readonly #cut = new AbortController();
  readonly #streams = new Set<AsyncIterator<Uint8Array>>();
  #requests = 0;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    setMaxListeners(0, this.#cut.signal);
  }

  async request(request: TransportRequest): Promise<TransportResponse> {
    const { name, server, networkClock, processClock, random, onRequest } = this.#options;
    request.signal?.throwIfAborted();
    const id = ++this.#requests;
    const carriedOut = onRequest(request);
    if (this.#cut.signal.aborted) return never();
    const isRoutine = isLease(request.path);
    this.#tell(`→ ${id} ${request.method} ${request.path}`, isRoutine);
    try {
      await sleep(networkClock, travelMs(random), request.signal);
      if (this.#cut.signal.aborted && request.method === 'GET') return never();
      const headers = { ...request.headers, 'user-agent': name };
      const signal = request.signal ? AbortSignal.any([request.signal, this.#cut.signal]) : this.#cut.signal;
      const answer = await server.handle({ ...request, headers, signal });
      carriedOut();
      if (this.#cut.signal.aborted) await answer.discard();
      await sleep(processClock, travelMs(random), request.signal);
      this.#tell(`← ${id} ${answer.status}`, isRoutine);
      return request.longLived ? { ...answer, chunks: () => this.#delivered(id, answer, request.signal) } : answer;
    } catch (error) {
      if (this.#cut.signal.aborted) return never();
      this.#tell(`✗ ${id} ${String(error)}`);
      throw error;
    }
  }

  /** A process keeps its connection as long as it lives. */
  async close(): Promise<void> {}

  /** The process is dead: what it sent still arrives, but nothing comes back, and its watches are over. */
  cut(): void {
    this.#cut.abort(new Error('the process is dead'));
    for (const stream of this.#streams) void stream.return?.();
  }

  async *#delivered(
    id: number,
    answer: TransportResponse,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    const { processClock, random } = this.#options;
    const stream = answer.chunks()[Symbol.asyncIterator]();
    this.#streams.add(stream);
    try {
      for (;;) {
        const step = await this.#whileAlive(stream.next());
        if (step.done) {
          this.#tell(`⇠ ${id} end`);
          return;
        }
        await sleep(processClock, travelMs(random), signal);
        for (const event of eventsIn(step.value)) this.#tell(`⇠ ${id} ${event}`, event.startsWith('BOOKMARK'));
        yield step.value;
      }
    } catch (error) {
      this.#tell(`⇠ ${id} ${String(error)}`);
      throw error;
    } finally {
      this.#streams.delete(stream);
      await stream.return?.();
    }
  }

  #whileAlive<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const { signal } = this.#cut;
      promise.then(
        (value) => signal.aborted || resolve(value),
        (error: unknown) => signal.aborted || reject(error),
      );
    });
  }

  #tell(what: string, isRoutine = false): void {
    this.#options.trace.add(this.#options.name, what, isRoutine);
  }
}

/** Most take a few milliseconds, some much longer than that: enough for a whole pass of somebody else in between. */
function travelMs(random: Random): number {
  return random.chance(0.05) ? random.between(20, 500) : random.between(0.1, 10);
}

function never(): Promise<never> {
  return new Promise(() => {});
}

interface AnyEvent {
  readonly type: string;
  readonly object: {
    readonly kind?: string;
    readonly metadata?: { readonly namespace?: string; readonly name?: string; readonly resourceVersion?: string };
  };
}

/** `MODIFIED Pod default/a @17`. A log that is followed has lines that are no events. */
function eventsIn(chunk: Uint8Array): readonly string[] {
  return Buffer.from(chunk)
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => {
      if (!line.startsWith('{"type":')) return line;
      const { type, object }: AnyEvent = JSON.parse(line);
      const { namespace, name = '', resourceVersion = '' } = object.metadata ?? {};
      return `${type} ${object.kind ?? ''} ${namespace === undefined ? '' : `${namespace}/`}${name} @${resourceVersion}`;
    });
}
