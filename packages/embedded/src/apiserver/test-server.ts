import { type TransportRequest, VirtualClock } from '@polder/kube';
import { Random } from '../simulation/random.ts';
import { type ApiServer, type ApiServerOptions, createApiServer } from './api-server.ts';
import type { WireObject } from './served-kind.ts';

/** For tests: a server whose time stands still and whose randomness is the same every time. */
export class TestServer {
  readonly clock = new VirtualClock();
  readonly server: ApiServer;

  constructor(options: Partial<ApiServerOptions> = {}) {
    this.server = createApiServer({ clock: this.clock, random: new Random(1).next, ...options });
  }

  async call(method: TransportRequest['method'], path: string, body?: unknown, headers: Record<string, string> = {}) {
    const response = await this.server.handle({
      method,
      path,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text };
  }

  /** The object of an answer that has to be a success. */
  async must(method: TransportRequest['method'], path: string, body?: unknown, headers?: Record<string, string>) {
    const { status, text } = await this.call(method, path, body, headers);
    if (status >= 300) throw new Error(`${method} ${path} answered ${status}: ${text}`);
    const object: WireObject & { readonly items?: readonly WireObject[] } = JSON.parse(text);
    return object;
  }

  configMap(
    name: string,
    fields: Readonly<Record<string, unknown>> = {},
    metadata: Readonly<Record<string, unknown>> = {},
  ) {
    return this.must('POST', CONFIG_MAPS, { metadata: { name, ...metadata }, ...fields });
  }

  async watch(path: string, signal?: AbortSignal): Promise<TestWatch> {
    const response = await this.server.handle({ method: 'GET', path, headers: {}, signal });
    return new TestWatch(response.chunks()[Symbol.asyncIterator]());
  }
}

export const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';

export interface TestEvent {
  readonly type: string;
  readonly object: WireObject & { readonly code?: number; readonly message?: string };
}

/** Reads a watch event by event. */
export class TestWatch {
  readonly #chunks: AsyncIterator<Uint8Array>;
  readonly #events: TestEvent[] = [];

  constructor(chunks: AsyncIterator<Uint8Array>) {
    this.#chunks = chunks;
  }

  /** Undefined at the end. */
  async next(): Promise<TestEvent | undefined> {
    if (this.#events.length === 0) {
      const step = await this.#chunks.next();
      if (step.done) return undefined;
      for (const line of Buffer.from(step.value).toString().trimEnd().split('\n')) {
        const event: TestEvent = JSON.parse(line);
        this.#events.push(event);
      }
    }
    return this.#events.shift();
  }

  /** `ADDED a`, …: so many events, in short. */
  async summary(count: number): Promise<readonly string[]> {
    const seen: string[] = [];
    while (seen.length < count) {
      const event = await this.next();
      if (event === undefined) return [...seen, 'end'];
      seen.push(`${event.type} ${event.object.metadata.name ?? ''}`.trim());
    }
    return seen;
  }

  async leave(): Promise<void> {
    await this.#chunks.return?.();
  }
}
