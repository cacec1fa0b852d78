import type { Clock } from '../clock.ts';
import type { Sink, Source } from '../connector.ts';
import { type Logger, messageOf } from '../log.ts';
import type { Failure, Message } from '../message.ts';
import { unlessAborted } from '../waiting.ts';
import { Bell } from './bell.ts';
import { Chain, type Transformation } from './chain.ts';
import { Committer } from './committer.ts';
import { type AckPolicy, ErrorSink } from './error-sink.ts';
import { type Connector, ERRORS, MAIN, type Outlet, type PipelineEvents, routeOutlet } from './events.ts';
import { errorTypeOf, nowhereToGo, routeIsDead } from './failures.ts';
import { Grace } from './grace.ts';
import { Ledger } from './ledger.ts';
import { RETRY, type Retry } from './retry.ts';
import { type Destination, Router } from './router.ts';
import { Writer, type WriterOptions } from './writer.ts';

export interface PipelineOptions {
  readonly source: Source;
  readonly transformations: readonly Transformation[];
  readonly sink: Destination;
  /** By the text of their condition. Connected when the first message comes. */
  readonly routes?: ReadonlyMap<string, Destination> | undefined;
  /** Left out: a message that can't be transformed is skipped, one that can't be decoded or written ends the pipeline. */
  readonly errors?: (Destination & { readonly ackPolicy: AckPolicy }) | undefined;
  /** `message`: each is written alone, and its position committed as soon as it is. */
  readonly ackGranularity?: 'batch' | 'message' | undefined;
  readonly limits?: Partial<Limits> | undefined;
  readonly retry?: Partial<Retry> | undefined;
  /** Default 1 s. */
  readonly commitIntervalMs?: number | undefined;
  /** Commits at once if the last commit is that long ago, instead of gathering for that long first. */
  readonly commitsPromptly?: boolean | undefined;
  /** How long a stop may take, all in all. What is not written by then is read again by the next run. */
  readonly graceMs: number;
  readonly clock: Clock;
  /** 0 <= r < 1. */
  readonly random: () => number;
  readonly log: Logger;
  readonly on?: PipelineEvents | undefined;
}

/** What bounds memory. */
export interface Limits {
  /** So many messages may wait for one sink or be under way to it, or two of its batches if that is more. */
  readonly bufferedMessages: number;
  readonly bufferedBytes: number;
  /** So many inputs may be read and not yet be committable, whichever sink they wait for. */
  readonly uncommitted: number;
}

export const LIMITS: Limits = { bufferedMessages: 2_000, bufferedBytes: 16 << 20, uncommitted: 50_000 };

/** How a run came to its end. */
export interface Ending {
  readonly because: 'stopped' | 'exhausted';
  /** Inputs of which something was still on its way when the grace period was over: the next run reads them again. */
  readonly unfinished: number;
}

/**
 * `read → transform → write`. An input is committed only after everything made of it is durable somewhere, and of each
 * partition only a contiguous prefix is: whenever the program dies, the next run starts before everything that is not written.
 *
 * One loop reads and transforms, one loop per sink writes; between them are bounded buffers, so that a slow sink slows the
 * reading down and nothing else grows.
 */
export class Pipeline {
  readonly #options: PipelineOptions;
  readonly #on: PipelineEvents;
  readonly #limits: Limits;
  readonly #ledger = new Ledger();
  readonly #committer: Committer;
  readonly #chain: Chain;
  readonly #router: Router;
  readonly #errors: ErrorSink | undefined;
  readonly #grace: Grace;
  /** Aborts when nothing more is to be read. */
  readonly #reading = new AbortController();
  /** An input may have become committable. */
  readonly #settled: Bell;
  /** The loops of main sink and routes, and that of the error sink, which outlasts them. */
  readonly #writing: Promise<void>[] = [];
  #settingAside: Promise<void> | undefined;
  /** Partitions that were lost while a batch is taken: what is left of them in it is for their next reader. */
  readonly #lost = new Set<string>();
  #isReady = false;
  #progressAt: number;
  #fatal: Error | undefined;

  constructor(options: PipelineOptions) {
    const { source, sink, routes, errors, clock, log, on = {}, transformations, graceMs } = options;
    this.#options = options;
    this.#on = on;
    this.#limits = { ...LIMITS, ...options.limits };
    this.#progressAt = clock.now();
    this.#settled = new Bell(clock);
    this.#grace = new Grace(clock, graceMs);
    this.#chain = new Chain(transformations, clock, on);
    const intervalMs = options.ackGranularity === 'message' ? 0 : (options.commitIntervalMs ?? 1_000);
    const isPrompt = options.commitsPromptly ?? false;
    this.#committer = new Committer({ source, ledger: this.#ledger, intervalMs, isPrompt, clock, log, on });
    this.#errors =
      errors &&
      new ErrorSink({
        ...this.#writerOptions(errors),
        written: () => this.#progressed(),
        ackPolicy: errors.ackPolicy,
        ledger: this.#ledger,
        originalSink: sink.type,
      });
    const main = this.#writer(MAIN, sink);
    this.#router = new Router({
      main,
      routes: routes ?? new Map(),
      open: (condition, destination) => {
        const writer = this.#writer(routeOutlet(condition), destination);
        this.#writing.push(this.#run(writer));
        return writer;
      },
    });
  }

  /** Everything is connected, and it reads. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /**
   * Since when nothing gets on, in milliseconds since the epoch: neither what is to be written nor what is to be committed.
   * Now, while there is nothing to do.
   */
  get lastProgressAt(): number {
    const now = this.#options.clock.now();
    const writing = this.inFlight === 0 ? now : this.#progressAt;
    return Math.min(writing, this.#committer.behindSince ?? now);
  }

  /** Messages that were transformed and are not yet written. */
  get inFlight(): number {
    return this.#writers.reduce((sum, { size }) => sum + size, 0);
  }

  /** How many messages wait for each sink or are being written to it. */
  get queues(): ReadonlyMap<Outlet, number> {
    return new Map(this.#writers.map(({ outlet, size }) => [outlet, size]));
  }

  /** Inputs that were read and may not be committed yet. */
  get uncommitted(): number {
    return this.#ledger.size;
  }

  /**
   * Until the source is exhausted or `stop` aborts, and what was read by then is written, committed, and everything is closed.
   * Rejects if it could not be brought up, the source failed for good, or a message can't be handled and has nowhere to go.
   */
  async run(stop: AbortSignal): Promise<Ending> {
    const onStop = () => {
      this.#reading.abort();
      this.#grace.begin();
    };
    if (stop.aborted) onStop();
    stop.addEventListener('abort', onStop);
    try {
      await this.#connect();
      await this.#readAll();
      await this.#drain();
      if (this.#fatal) throw this.#fatal;
      return { because: stop.aborted ? 'stopped' : 'exhausted', unfinished: this.#ledger.size };
    } finally {
      await this.#close();
      stop.removeEventListener('abort', onStop);
      this.#grace.end();
    }
  }

  get #writers(): readonly Writer[] {
    return this.#errors ? [...this.#router.writers, this.#errors.writer] : this.#router.writers;
  }

  async #connect(): Promise<void> {
    const { source, sink, errors } = this.#options;
    const connect = async (what: string, connector: Connector, connecting: Source | Sink) => {
      if (this.#reading.signal.aborted) return;
      try {
        await unlessAborted(connecting.connect(this.#reading.signal), this.#reading.signal);
      } catch (error) {
        if (this.#reading.signal.aborted) return;
        throw new Error(`failed to connect to ${what}: ${messageOf(error)}`, { cause: error });
      }
      this.#on.connected?.(connector);
    };
    await connect('source', { role: 'source' }, source);
    await connect('sink', { role: 'sink', outlet: MAIN }, sink.sink);
    if (errors) await connect('error sink', { role: 'sink', outlet: ERRORS }, errors.sink);
  }

  async #readAll(): Promise<void> {
    const { source, clock } = this.#options;
    const { signal } = this.#reading;
    if (signal.aborted) return;
    this.#writing.push(...this.#router.writers.map((writer) => this.#run(writer)));
    if (this.#errors) this.#settingAside = this.#run(this.#errors.writer);
    const batches = source.read(signal, { revoked: (partitions) => this.#revoked(partitions) })[Symbol.asyncIterator]();
    this.#isReady = true;
    try {
      for (;;) {
        const askedAt = clock.monotonic();
        const next = await unlessAborted(batches.next(), signal);
        if (next.done) return;
        const inputs = next.value;
        this.#on.read?.(inputs.map(messageIn), clock.monotonic() - askedAt);
        await this.#take(inputs, signal);
      }
    } catch (error) {
      if (signal.aborted) return;
      this.#on.failed?.({ stage: 'read', type: errorTypeOf(error), messages: 0 });
      this.#fail(new Error(`failed to read from source: ${messageOf(error)}`, { cause: error }));
    } finally {
      this.#isReady = false;
      // Not waited for: a source that ignores its signal would keep us from draining.
      batches.return?.().catch(() => undefined);
    }
  }

  /** Transforms a batch and hands it on, waiting where there is no room. What is left when the signal aborts is nobody's. */
  async #take(inputs: readonly (Message | Failure)[], signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    if (this.inFlight === 0) this.#progressAt = clock.now();
    this.#lost.clear();
    let failed = 0;
    for (const input of inputs) {
      if (this.#ledger.size >= this.#limits.uncommitted) await this.#roomInLedger(signal);
      if (signal.aborted) return;
      const { origin } = messageIn(input);
      if (this.#lost.has(origin.partition)) continue;
      const failures: Failure[] = [];
      const outputs = this.#outputsOf(input, failures);
      const isSkipping = failures.length > 0 && !('because' in input) && !this.#errors;
      failed += failures.length;
      this.#ledger.opened(origin, outputs.length + (isSkipping ? 0 : failures.length));
      let isHandedOn = failures.length === 0 || isSkipping || (await this.#setAside('decode', failures, signal));
      for (const output of outputs) {
        const writer = this.#router.writerFor(output);
        const hasRoom = writer.hasRoom || (await writer.room(signal));
        if (this.#lost.has(origin.partition)) break;
        if (hasRoom) writer.push(output, packedSizeOf(output));
        else if (signal.aborted) isHandedOn = false;
        else {
          this.#on.gaveUp?.(writer.outlet, 1);
          isHandedOn &&= await this.#setAside('write', [routeIsDead(output, writer.outlet.name)], signal);
        }
      }
      // Part of it went nowhere, so that the next run has to read it again.
      if (!isHandedOn) return this.#ledger.hold(origin);
    }
    const where = this.#errors ? 'to the error sink' : 'skipped, there is no error sink';
    if (failed > 0) log.warn({ messages: failed }, `could not decode or transform; ${where}`);
    this.#committer.look();
  }

  #outputsOf(input: Message | Failure, failures: Failure[]): readonly Message[] {
    if ('because' in input) {
      this.#on.failed?.({ stage: 'decode', type: input.type, messages: 1 });
      failures.push(input);
      return [];
    }
    return this.#chain.run(input, failures);
  }

  async #roomInLedger(signal: AbortSignal): Promise<void> {
    while (this.#ledger.size >= this.#limits.uncommitted && !signal.aborted) {
      // It may be a batch that still waits to be filled that everybody waits for.
      for (const writer of this.#writers) writer.flush();
      await this.#settled.wait(signal);
    }
  }

  /** To the error sink. Where there is none the pipeline ends before their positions are committed. False: they are not taken. */
  async #setAside(stage: 'decode' | 'write', failures: readonly Failure[], signal: AbortSignal): Promise<boolean> {
    if (this.#errors) return this.#errors.take(failures, signal);
    const [first] = failures;
    if (first) this.#fail(nowhereToGo(stage, first, this.#options.source));
    return false;
  }

  /** The pipeline is to end with this error, after what is in flight. */
  #fail(error: Error): void {
    this.#fatal ??= error;
    this.#reading.abort();
    this.#grace.begin();
  }

  #revoked(partitions: readonly string[]): void {
    for (const partition of partitions) {
      this.#lost.add(partition);
      this.#ledger.forget(partition);
      this.#committer.forget(partition);
      for (const writer of this.#writers) writer.discard(partition);
    }
    this.#settled.ring();
  }

  #progressed(): void {
    this.#progressAt = this.#options.clock.now();
    this.#committer.look();
    this.#settled.ring();
  }

  /** What is in flight is written, and what may be committed is. */
  async #drain(): Promise<void> {
    for (const writer of this.#router.writers) writer.end();
    await Promise.all(this.#writing);
    // Only now: what the others could not write has gone there.
    this.#errors?.writer.end();
    await this.#settingAside;
    this.#grace.begin();
    try {
      await this.#committer.finish(this.#grace.ending);
    } catch (error) {
      this.#fail(new Error(`failed to commit: ${messageOf(error)}`, { cause: error }));
    }
  }

  async #close(): Promise<void> {
    const { source, log } = this.#options;
    this.#grace.begin();
    const close = async (connector: Source | Sink) => {
      try {
        await unlessAborted(connector.close(), this.#grace.ending);
      } catch (error) {
        log.warn({ error: messageOf(error) }, 'could not close a connector');
      }
    };
    await Promise.all([source, ...this.#writers.map(({ sink }) => sink)].map(close));
    this.#on.disconnected?.({ role: 'source' });
    for (const { outlet } of this.#writers) this.#on.disconnected?.({ role: 'sink', outlet });
  }

  #writer(outlet: Outlet, destination: Destination): Writer {
    const isMain = outlet.role === 'main';
    return new Writer({
      ...this.#writerOptions(destination),
      outlet,
      isConnected: isMain,
      budget: this.#errors && (isMain ? 'batch' : 'outage'),
      written: (messages) => {
        for (const { origin } of messages) this.#ledger.settled(origin);
        this.#progressed();
      },
      gaveUp: async (failures, signal) => void (await this.#setAside('write', failures, signal)),
    });
  }

  #writerOptions({ sink, batching }: Destination): Omit<WriterOptions, 'outlet' | 'isConnected' | 'written'> {
    const { ackGranularity, retry, clock, random, log } = this.#options;
    const { bufferedMessages, bufferedBytes } = this.#limits;
    const size = ackGranularity === 'message' ? 1 : batching.size;
    return {
      sink,
      batching: { ...batching, size },
      capacity: { messages: Math.max(bufferedMessages, 2 * size), bytes: bufferedBytes },
      retry: { ...RETRY, ...retry },
      clock,
      random,
      log,
      on: this.#on,
    };
  }

  async #run(writer: Writer): Promise<void> {
    try {
      await writer.run(this.#grace.work);
    } catch (error) {
      this.#fail(new Error(`failed to write to ${writer.outlet.name}: ${messageOf(error)}`, { cause: error }));
    }
  }
}

const messageIn = (input: Message | Failure): Message => ('because' in input ? input.message : input);

/** What an output counts for in a buffer. It may wait there until the sink takes it, and so it is made small. */
function packedSizeOf({ payload }: Message): number {
  payload?.pack();
  return payload?.size ?? 0;
}
