/** The API in front of an API server in memory. */
import { type ApiServer, createApiServer } from '@polder/embedded/apiserver';
import { Client, CustomResourceDefinition, crdOf, type Logger, silentLogger, VirtualClock } from '@polder/kube';
import { type ApiOptions, qdrantApi } from '../src/index.ts';
import { kinds } from '../src/kinds/index.ts';

export const TOKEN = 'a-token-that-nobody-knows';

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  /** Undefined if there is none. */
  readonly body: unknown;
}

/** With the token, unless other headers are given. Text is sent as it is, all else as JSON. */
export type Caller = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
) => Promise<Reply>;

export interface ApiWorld {
  readonly server: ApiServer;
  readonly client: Client;
  readonly clock: VirtualClock;
  /** What was logged, with its fields, line by line. */
  readonly log: readonly string[];
  readonly call: Caller;
  /** The way into an API that differs in something. */
  callerWith(options: Partial<ApiOptions>): Caller;
  /** As if it had just been made; the clock goes on. */
  reset(): Promise<void>;
}

export async function apiWorld(installed: typeof kinds | readonly [] = kinds): Promise<ApiWorld> {
  const clock = new VirtualClock(Date.parse('2026-03-01T12:00:00.000Z'));
  const server = createApiServer({ clock });
  const client = new Client({ transport: server.transport(), userAgent: 'test', clock });
  for (const kind of installed) await client.create(CustomResourceDefinition, crdOf(kind));
  const log: string[] = [];
  const callerWith = (options: Partial<ApiOptions>) =>
    callerOf(qdrantApi({ client, token: TOKEN, clock, log: logTo(log), timeoutMs: 10_000, ...options }));
  return {
    server,
    client,
    clock,
    log,
    callerWith,
    call: callerWith({}),
    async reset() {
      server.faults.clear();
      log.length = 0;
      for (const kind of installed)
        await client.deleteCollection(kind, kind.namespaced ? { namespace: 'default' } : {});
    },
  };
}

const callerOf =
  (app: ReturnType<typeof qdrantApi>): Caller =>
  async (method, path, body, headers = { authorization: `Bearer ${TOKEN}` }) => {
    const json = body === undefined || typeof body === 'string' ? {} : { 'content-type': 'application/json' };
    const sent = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) };
    const answer = await app.request(path, { method, headers: { ...json, ...headers }, ...sent });
    const text = await answer.text();
    const parsed: unknown = text === '' ? undefined : JSON.parse(text);
    return { status: answer.status, headers: answer.headers, body: parsed };
  };

function logTo(lines: string[]): Logger {
  const note = (fields: object, message: string) => void lines.push(`${message} ${JSON.stringify(fields)}`);
  const log: Logger = { ...silentLogger, info: note, warn: note, error: note, child: () => log };
  return log;
}
