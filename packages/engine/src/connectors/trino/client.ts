import type { Clock } from '../../clock.ts';
import { get, isArray, isNumber, isObject, type Json, type JsonArray, parseJson } from '../../json/index.ts';
import { pause, pauseAfter } from '../../waiting.ts';
import type { KeycloakConfig } from './config.ts';
import { type Answer, ask, type Fetch, type Question } from './http.ts';
import { type Tokens, tokensOf } from './keycloak.ts';
import { lasting, passing, queryTrouble, TrinoError } from './trouble.ts';

export interface ClientOptions {
  /** May carry a user and a password. */
  readonly serverURL: string;
  readonly catalog: string;
  readonly schema: string;
  readonly keycloak?: KeycloakConfig | undefined;
  /** How long a statement may take, as Trino counts it. */
  readonly queryTimeoutSeconds?: number | undefined;
  readonly fetch: Fetch;
  readonly clock: Clock;
  /** From 0 up to 1. */
  readonly random: () => number;
}

export interface ColumnHeader {
  readonly name: string;
  /** As SQL writes it. */
  readonly type: string;
}

/** A part of a result. The columns are the same in each. */
export interface Page {
  readonly columns: readonly ColumnHeader[];
  readonly rows: readonly JsonArray[];
}

/** Who we say we are where nothing proves it. */
const USER = 'dataflow-operator';

/** Trino itself answers within a second, be it that there is nothing yet. */
const TIMEOUT_MS = 30_000;
const CANCEL_TIMEOUT_MS = 5_000;

/** What stands in front of Trino (502, 503, 504, 429) is not down for long, or is down. One silence is not the end of a query. */
const PATIENCE_MS = 2 * TIMEOUT_MS;
const PAUSES = { firstMs: 100, longestMs: 2_000 };
const BUSY: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/**
 * Runs statements by Trino's protocol: a POST, then a GET of each `nextUri` until there is none.
 *
 * Every request can be repeated safely. A statement that was posted and never asked about is never run, so that a POST whose
 * answer got lost has done nothing; and a GET gives the same page until the next one was asked for.
 */
export class TrinoClient {
  readonly #options: ClientOptions;
  readonly #base: URL;
  readonly #tokens: Tokens | undefined;
  readonly #basic: string | undefined;
  /** Undefined: whoever the token says we are. */
  #user: string | undefined;

  constructor(options: ClientOptions) {
    this.#options = options;
    const { base, username, password } = addressOf(options.serverURL);
    this.#base = base;
    this.#user = username || USER;
    this.#basic = password === '' ? undefined : `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
    this.#tokens = options.keycloak && tokensOf(options.keycloak, options);
  }

  /** The pages of a result, each when it is asked for. Whoever stops asking, or aborts, cancels the query. */
  async *pages(sql: string, signal: AbortSignal): AsyncGenerator<Page, void, undefined> {
    let next: string | undefined;
    try {
      let answer = await this.#post(sql, signal);
      for (;;) {
        const { columns, rows, nextUri, trouble } = pageOf(answer);
        // A query that failed is over already.
        next = trouble ? undefined : nextUri;
        if (trouble && this.#isCalledOtherwise(trouble.detail)) {
          answer = await this.#post(sql, signal);
          continue;
        }
        if (trouble) throw trouble;
        if (columns) yield { columns, rows };
        if (next === undefined) return;
        answer = accepted(await this.#request('GET', next, signal), next);
      }
    } finally {
      if (next !== undefined) await this.#cancel(next);
    }
  }

  /** A statement whose result is small, or nothing. */
  async run(sql: string, signal: AbortSignal): Promise<Page> {
    let columns: readonly ColumnHeader[] = [];
    const rows: JsonArray[] = [];
    for await (const page of this.pages(sql, signal)) {
      columns = page.columns;
      rows.push(...page.rows);
    }
    return { columns, rows };
  }

  async #post(sql: string, signal: AbortSignal): Promise<Answer> {
    const url = `${this.#base.href.replace(/\/+$/, '')}/v1/statement`;
    const answer = await this.#request('POST', url, signal, sql);
    const isAgain = answer.status === 403 && this.#isCalledOtherwise(answer.text);
    return accepted(isAgain ? await this.#request('POST', url, signal, sql) : answer, url);
  }

  /**
   * With a token Trino knows who we are, and by default lets nobody call himself something else. It says so as the error of a
   * query; who stands in front of it may refuse the request. True: from now on we do not say who we are.
   */
  #isCalledOtherwise(refusal: string): boolean {
    if (!this.#tokens || this.#user !== USER || !refusal.includes('impersonate')) return false;
    this.#user = undefined;
    return true;
  }

  /** Repeats what nobody answered for good; a POST that reaches nobody fails at once, since nothing is lost with it. */
  async #request(method: 'GET' | 'POST', url: string, signal: AbortSignal, sql?: string): Promise<Answer> {
    const { clock, random } = this.#options;
    const until = clock.monotonic() + PATIENCE_MS;
    for (let failures = 1; ; failures++) {
      const outcome = await this.#attempt(method, url, signal, sql);
      const isAnswer = 'status' in outcome;
      const isPassing = isAnswer ? BUSY.has(outcome.status) : method === 'GET' && outcome.isRetryable;
      if (!isPassing || clock.monotonic() >= until) {
        if (isAnswer) return outcome;
        throw outcome;
      }
      await pause(clock, pauseAfter(failures, PAUSES, random), signal);
    }
  }

  /** With another token if the first one is refused. */
  async #attempt(method: 'GET' | 'POST', url: string, signal: AbortSignal, sql?: string): Promise<Answer | TrinoError> {
    try {
      const token = await this.#tokens?.current(signal);
      const answer = await this.#ask(this.#question(method, url, token, sql), signal);
      if (answer.status !== 401 || token === undefined) return answer;
      const another = await this.#tokens?.another(token, signal);
      return another === undefined ? answer : await this.#ask(this.#question(method, url, another, sql), signal);
    } catch (error) {
      if (error instanceof TrinoError) return error;
      throw error;
    }
  }

  #question(method: Question['method'], url: string, token: string | undefined, sql?: string): Question {
    const authorization = token === undefined ? this.#basic : `Bearer ${token}`;
    const { origin, protocol } = new URL(url);
    if (this.#base.protocol === 'https:' && protocol !== 'https:')
      throw new TrinoError(
        `Trino goes on at ${origin}, in clear text, although serverURL is https: set http-server.process-forwarded on Trino if there is a proxy in front of it`,
        lasting('auth_error'),
      );
    if (authorization !== undefined && origin !== this.#base.origin)
      throw new TrinoError(
        `Trino goes on at ${origin}, not at ${this.#base.origin}, and credentials are sent nowhere else: set http-server.process-forwarded on Trino if there is a proxy in front of it`,
        lasting('auth_error'),
      );
    return {
      who: 'Trino',
      url,
      method,
      headers: {
        ...(authorization === undefined ? {} : { authorization }),
        ...(sql === undefined ? {} : this.#sessionHeaders()),
      },
      ...(sql === undefined ? {} : { body: sql }),
      timeoutMs: TIMEOUT_MS,
    };
  }

  #sessionHeaders(): Record<string, string> {
    const { catalog, schema, queryTimeoutSeconds } = this.#options;
    return {
      'content-type': 'text/plain; charset=utf-8',
      ...(this.#user === undefined ? {} : { 'x-trino-user': this.#user }),
      'x-trino-source': 'polder',
      'x-trino-catalog': catalog,
      'x-trino-schema': schema,
      'x-trino-time-zone': 'UTC',
      // Without it Trino cuts moments to milliseconds, for clients of old.
      'x-trino-client-capabilities': 'PARAMETRIC_DATETIME',
      ...(queryTimeoutSeconds === undefined ? {} : { 'x-trino-session': `query_max_run_time=${queryTimeoutSeconds}s` }),
    };
  }

  #ask(question: Question, signal: AbortSignal): Promise<Answer> {
    return ask(this.#options, question, signal);
  }

  /** As far as that is possible: Trino ends by itself what nobody asks about, only minutes later. */
  async #cancel(next: string): Promise<void> {
    const { signal } = new AbortController();
    try {
      const token = await this.#tokens?.current(signal);
      await this.#ask({ ...this.#question('DELETE', next, token), timeoutMs: CANCEL_TIMEOUT_MS }, signal);
    } catch {
      // There is nobody left to tell.
    }
  }
}

/** The address without what is secret in it: `fetch` takes no other. */
function addressOf(serverURL: string): { readonly base: URL; readonly username: string; readonly password: string } {
  try {
    const base = new URL(serverURL);
    const [username, password] = [decodeURIComponent(base.username), decodeURIComponent(base.password)];
    base.username = '';
    base.password = '';
    return { base, username, password };
  } catch {
    // What is thrown quotes the address, password and all.
    throw new TrinoError('serverURL is no address; it should look like https://trino:8443', lasting('unknown'));
  }
}

function accepted(answer: Answer, url: string): Answer {
  const { status } = answer;
  if (status === 200) return answer;
  const where = `Trino at ${new URL(url).host}`;
  if (status === 401)
    throw new TrinoError(
      `${where} refused our credentials (401); check keycloak, or the user in serverURL`,
      lasting('auth_error'),
    );
  if (status === 403) throw new TrinoError(`${where} forbids us to run statements (403)`, lasting('auth_error'));
  // It does not know the query any more: it was restarted, or nobody asked for too long.
  if ((status === 404 || status === 410) && url.includes('/v1/statement/'))
    throw new TrinoError(`${where} has lost the query (${status})`, passing('connection_error'));
  if (status >= 500 || status === 429) throw new TrinoError(`${where} answered ${status}`, passing('connection_error'));
  throw new TrinoError(`${where} answered ${status}; check serverURL`, lasting('unknown'));
}

interface WirePage {
  /** Undefined: nothing is known yet of the result. */
  readonly columns: readonly ColumnHeader[] | undefined;
  readonly rows: readonly JsonArray[];
  readonly nextUri: string | undefined;
  readonly trouble: TrinoError | undefined;
}

/** Numbers keep all their digits: a bigint does not go through a JavaScript number. */
function pageOf({ text }: Answer): WirePage {
  const page = parseJson(text);
  if (!isObject(page)) throw new TrinoError('what answers is no Trino; check serverURL', lasting('unknown'));
  const [columns, data, nextUri, error] = ['columns', 'data', 'nextUri', 'error'].map((key) => get(page, key));
  return {
    columns: isArray(columns) ? columns.map(headerOf) : undefined,
    rows: isArray(data) ? data.filter(isArray) : [],
    nextUri: typeof nextUri === 'string' ? nextUri : undefined,
    trouble: isObject(error) ? queryTrouble(queryErrorOf(error)) : undefined,
  };
}

function headerOf(column: Json): ColumnHeader {
  return { name: textIn(column, 'name'), type: textIn(column, 'type') };
}

function queryErrorOf(error: Json) {
  return {
    message: textIn(error, 'message'),
    errorName: textIn(error, 'errorName'),
    errorType: textIn(error, 'errorType'),
  };
}

function textIn(object: Json, key: string): string {
  const value = isObject(object) ? get(object, key) : undefined;
  return typeof value === 'string' ? value : isNumber(value) ? String(value) : '';
}
