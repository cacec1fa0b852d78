import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { ConnectionOptions as TlsOptions } from 'node:tls';
import type { Clock } from '../clock.ts';
import { type Logger, messageOf } from '../log.ts';
import { distrustOf } from '../tls.ts';
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
  | {
      readonly found: true;
      readonly schema: string;
      /** The schemas whose types it names, each behind those that it names itself. */
      readonly references: readonly string[];
    }
  | { readonly found: false; readonly because: string };

const TIMEOUT_MS = 30_000;
const PAUSES = { firstMs: 200, longestMs: 10_000 };
/** Of one schema, those of its references included. Somebody's registry must not keep us asking. */
const MOST_REFERENCES = 100;

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
    try {
      const registered = await this.#ask(`/schemas/ids/${id}`, { schema: id }, signal);
      if (registered === undefined) return { found: false, because: `the schema registry does not know schema ${id}` };
      if (registered.type !== 'AVRO') throw new UnusableError(`is ${registered.type}, not Avro`);
      const gathered = new Map<string, string | undefined>();
      await this.#gather(registered.references, gathered, signal);
      const references = [...gathered.values()].filter((schema) => schema !== undefined);
      return { found: true, schema: registered.schema, references };
    } catch (error) {
      if (!(error instanceof UnusableError)) throw error;
      return { found: false, because: `schema ${id} of the registry ${error.message}` };
    }
  }

  /**
   * By the names of the references, as Confluent's own clients do: one that was met before is not asked for again, also if it
   * leads back to where it came from.
   */
  async #gather(
    references: readonly Reference[],
    gathered: Map<string, string | undefined>,
    signal: AbortSignal,
  ): Promise<void> {
    for (const { name, subject, version } of references) {
      if (gathered.has(name)) continue;
      if (gathered.size >= MOST_REFERENCES) throw new UnusableError(`refers to more than ${MOST_REFERENCES} others`);
      gathered.set(name, undefined);
      const path = `/subjects/${encodeURIComponent(subject)}/versions/${version}`;
      const registered = await this.#ask(path, { subject, version }, signal);
      const shown = `refers to version ${version} of ${subject}`;
      if (registered === undefined) throw new UnusableError(`${shown}, which the registry does not know`);
      if (registered.type !== 'AVRO') throw new UnusableError(`${shown}, which is ${registered.type}, not Avro`);
      await this.#gather(registered.references, gathered, signal);
      // Behind those that it refers to.
      gathered.delete(name);
      gathered.set(name, registered.schema);
    }
  }

  /** Undefined: the registry says that there is none. `what` is for the log. */
  async #ask(path: string, what: object, signal: AbortSignal): Promise<Registered | undefined> {
    for (let failures = 0; ; failures++) {
      try {
        const { status, body } = await this.#get(`${this.#base}${path}`, signal);
        if (status === 200) return registeredIn(body);
        if (status === 404) return undefined;
        if (status === 401 || status === 403) throw new RefusedError(this.#base, status);
        throw new Error(`it answered ${status}`);
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof RefusedError || error instanceof UnusableError || isUntrusted(error)) throw error;
        this.#options.log.warn({ ...what, error: messageOf(error) }, 'the schema registry could not be asked');
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

/** A schema that no other answer will make usable; its text says why, without the schema's id. */
class UnusableError extends Error {
  override readonly name = 'UnusableError';
}

const isUntrusted = (error: unknown) =>
  error instanceof Error && 'code' in error && distrustOf(String(error.code)) !== undefined;

interface Registered {
  readonly schema: string;
  /** `AVRO`, `JSON`, `PROTOBUF` */
  readonly type: string;
  readonly references: readonly Reference[];
}

/** To a version of a subject, which defines a type of that name. */
interface Reference {
  readonly name: string;
  readonly subject: string;
  readonly version: number;
}

function registeredIn(body: string): Registered {
  const answer: { schema?: unknown; schemaType?: string; references?: unknown } = JSON.parse(body);
  const { schema, schemaType: type = 'AVRO', references = [] } = answer;
  if (typeof schema !== 'string') throw new Error('its answer has no schema');
  if (!Array.isArray(references) || !references.every(isReference))
    throw new UnusableError('has references without a name, a subject or a version');
  return { schema, type, references };
}

function isReference(given: unknown): given is Reference {
  if (typeof given !== 'object' || given === null) return false;
  const { name, subject, version }: { name?: unknown; subject?: unknown; version?: unknown } = given;
  return typeof name === 'string' && typeof subject === 'string' && Number.isInteger(version);
}
