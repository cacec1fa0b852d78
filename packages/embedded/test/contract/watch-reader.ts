import type { Body, Wire } from './wire.ts';

export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: Body;
}

/** An open watch that remembers everything it saw, for messages. */
export class Watch implements AsyncDisposable {
  readonly status: number;
  readonly seen: WatchEvent[] = [];
  readonly #events: AsyncIterator<WatchEvent>;
  readonly #abort: AbortController;

  private constructor(status: number, events: AsyncIterator<WatchEvent>, abort: AbortController) {
    this.status = status;
    this.#events = events;
    this.#abort = abort;
  }

  static async open(wire: Wire, path: string, headers: Readonly<Record<string, string>> = {}): Promise<Watch> {
    const abort = new AbortController();
    const response = await wire.transport.request({
      method: 'GET',
      path,
      headers: { accept: 'application/json', ...headers },
      signal: abort.signal,
      longLived: true,
    });
    return new Watch(response.status, eventsIn(response.chunks())[Symbol.asyncIterator](), abort);
  }

  /** The next event; `undefined` once the server has ended the watch. */
  async next(within = 10_000): Promise<WatchEvent | undefined> {
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => reject(new Error(`no event within ${within} ms; seen: ${this.summary().join(', ')}`)),
      within,
    );
    try {
      const step = await Promise.race([this.#events.next(), late]);
      if (step.done) return undefined;
      this.seen.push(step.value);
      return step.value;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Reads on until an event is the one that is waited for. */
  async until(isIt: (event: WatchEvent) => boolean, within?: number): Promise<WatchEvent> {
    for (;;) {
      const event = await this.next(within);
      if (event === undefined) throw new Error(`the watch ended first; seen: ${this.summary().join(', ')}`);
      if (isIt(event)) return event;
    }
  }

  /** `ADDED a`, `DELETED a`: the events so far, in short. */
  summary(): string[] {
    return this.seen.map(({ type, object }) => `${type} ${object.metadata.name ?? ''}`.trim());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#abort.abort();
    // A read may be under way; it fails by the abort, which is what was asked for.
    await Promise.resolve(this.#events.return?.()).catch(() => undefined);
  }
}

async function* eventsIn(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<WatchEvent> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunks) {
    rest += decoder.decode(chunk, { stream: true });
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const event: WatchEvent = JSON.parse(line);
      yield event;
    }
  }
}
