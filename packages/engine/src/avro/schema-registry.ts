import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { ConnectionOptions as TlsOptions } from 'node:tls';
import type { Clock } from '../clock.ts';
import { type Logger, messageOf } from '../log.ts';
import { pause, pauseAfter } from '../waiting.ts';

export interface SchemaRegistryOptions {
  readonly url: string;
  readonly basicAuth?: { readonly username: string; readonly password: string } | undefined;
  /** Certificates are verified unless it says otherwise. */
  readonly tls?: TlsOptions | undefined;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
}

/** What the registry says of an id, for good: a schema never changes. */
export type Lookup =
  | { readonly found: true; readonly schema: string }
  | { readonly found: false; readonly because: string };

const TIMEOUT_MS = 30_000;
const PAUSES = { firstMs: 200, longestMs: 10_000 };

/** A Confluent schema registry. What it does not answer is asked again until it does: messages must not be judged meanwhile. */
export class SchemaRegistry {
  readonly #options: SchemaRegistryOptions;
  readonly #base: string;

  constructor(options: SchemaRegistryOptions) {
    this.#options = options;
    this.#base = options.url.replace(/\/+$/, '');
  }

  /** Throws if the registry refuses us, or when the signal aborts. */
  async lookUp(id: number, signal: AbortSignal): Promise<Lookup> {
    for (let failures = 0; ; failures++) {
      try {
        const answer = await this.#get(`${this.#base}/schemas/ids/${id}`, signal);
        if (answer.status === 200) return schemaIn(answer.body, id);
        if (answer.status === 404) return { found: false, because: `the schema registry does not know schema ${id}` };
        if (answer.status === 401 || answer.status === 403) throw new RefusedError(this.#base, answer.status);
        throw new Error(`it answered ${answer.status}`);
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof RefusedError || isUntrusted(error)) throw error;
        this.#options.log.warn({ schema: id, error: messageOf(error) }, 'the schema registry could not be asked');
        await this.#pause(failures, signal);
        signal.throwIfAborted();
      }
    }
  }

  #get(url: string, signal: AbortSignal): Promise<{ readonly status: number; readonly body: string }> {
    const { basicAuth, tls } = this.#options;
    const request = url.startsWith('https:') ? httpsRequest : httpRequest;
    const headers: Record<string, string> = { accept: 'application/vnd.schemaregistry.v1+json' };
    if (basicAuth) {
      const credentials = Buffer.from(`${basicAuth.username}:${basicAuth.password}`).toString('base64');
      headers['authorization'] = `Basic ${credentials}`;
    }
    return new Promise((resolve, reject) => {
      const call = request(url, { ...tls, headers, signal, timeout: TIMEOUT_MS }, (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('error', reject);
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(parts).toString() }));
      });
      call.on('timeout', () => call.destroy(new Error(`no answer within ${TIMEOUT_MS / 1000} s`)));
      call.on('error', reject);
      call.end();
    });
  }

  #pause(failures: number, signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#options;
    return pause(clock, pauseAfter(failures + 1, PAUSES, random), signal);
  }
}

class RefusedError extends Error {
  override readonly name = 'RefusedError';

  constructor(url: string, status: number) {
    super(`the schema registry ${url} refused us (${status}); check schemaRegistry.basicAuth`);
  }
}

const isUntrusted = (error: unknown) =>
  error instanceof Error && 'code' in error && /CERT|VERIFY|SELF_SIGNED|ALTNAME/.test(String(error.code));

function schemaIn(body: string, id: number): Lookup {
  const answer: { schema?: unknown; schemaType?: string; references?: unknown } = JSON.parse(body);
  const refuse = (because: string): Lookup => ({ found: false, because: `schema ${id} of the registry ${because}` });
  if (answer.schemaType !== undefined && answer.schemaType !== 'AVRO')
    return refuse(`is ${answer.schemaType}, not Avro`);
  if (Array.isArray(answer.references) && answer.references.length > 0) return refuse('refers to other schemas');
  if (typeof answer.schema !== 'string') throw new Error('its answer has no schema');
  return { found: true, schema: answer.schema };
}
