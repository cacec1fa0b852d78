import { get, isNumber, isObject, parseJson } from '../../json/index.ts';
import type { KeycloakConfig } from './config.ts';
import { ask, type Http } from './http.ts';
import { lasting, passing, TrinoError } from './trouble.ts';

/** Where the tokens for Trino come from. */
export interface Tokens {
  /** One that should be good; asks for another if it has lived for most of its time. */
  current(signal: AbortSignal): Promise<string>;
  /** One instead of `refused`, which Trino did not accept. Undefined: there is no other. */
  another(refused: string, signal: AbortSignal): Promise<string | undefined>;
}

/** A token is replaced when so much of its life is over, */
const USED_UP = 0.8;
/** but not more often than this: a realm with very short tokens is not to be asked before each request. */
const SHORTEST_LIFE_MS = 60_000;
const UNTOLD_LIFE_MS = 300_000;
const TIMEOUT_MS = 30_000;

/** As it is said in the configuration: a token as it is, a user with a password, a client with a secret. */
export function tokensOf(keycloak: KeycloakConfig, http: Http): Tokens {
  const { token } = keycloak;
  if (token === undefined) return new KeycloakTokens(keycloak, http);
  return { current: () => Promise.resolve(token), another: () => Promise.resolve(undefined) };
}

interface Held {
  readonly token: string;
  readonly goodUntil: number;
}

class KeycloakTokens implements Tokens {
  readonly #keycloak: KeycloakConfig;
  readonly #http: Http;
  #held: Held | undefined;

  constructor(keycloak: KeycloakConfig, http: Http) {
    this.#keycloak = keycloak;
    this.#http = http;
  }

  async current(signal: AbortSignal): Promise<string> {
    if (!this.#held || this.#http.clock.monotonic() >= this.#held.goodUntil) this.#held = await this.#grant(signal);
    return this.#held.token;
  }

  another(refused: string, signal: AbortSignal): Promise<string> {
    if (this.#held?.token === refused) this.#held = undefined;
    return this.current(signal);
  }

  async #grant(signal: AbortSignal): Promise<Held> {
    const { serverURL = '', realm = '' } = this.#keycloak;
    const base = serverURL.replace(/\/+$/, '');
    const question = {
      who: 'Keycloak',
      url: `${base}/realms/${encodeURIComponent(realm)}/protocol/openid-connect/token`,
      method: 'POST' as const,
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
      body: new URLSearchParams(grantOf(this.#keycloak)).toString(),
      timeoutMs: TIMEOUT_MS,
    };
    const askedAt = this.#http.clock.monotonic();
    const { status, text } = await ask(this.#http, question, signal);
    if (status !== 200) throw refusal(status, text, this.#keycloak);
    const answer = parseJson(text);
    const token = isObject(answer) ? get(answer, 'access_token') : undefined;
    if (!isObject(answer) || typeof token !== 'string')
      throw new TrinoError('Keycloak answered without a token; check keycloak.serverURL', lasting('auth_error'));
    const seconds = get(answer, 'expires_in');
    const lifeMs = isNumber(seconds) ? Math.max(Number(seconds) * 1000 * USED_UP, SHORTEST_LIFE_MS) : UNTOLD_LIFE_MS;
    return { token, goodUntil: askedAt + lifeMs };
  }
}

function grantOf({ clientID = '', clientSecret, username, password }: KeycloakConfig): Record<string, string> {
  const client = { client_id: clientID, ...(clientSecret === undefined ? {} : { client_secret: clientSecret }) };
  if (username !== undefined && password !== undefined)
    return { grant_type: 'password', ...client, username, password };
  if (clientSecret !== undefined) return { grant_type: 'client_credentials', ...client };
  throw new TrinoError(
    'Keycloak authentication requires either token, username/password, or client secret',
    lasting('auth_error'),
  );
}

const CODE = /^[a-z_]{1,40}$/;

/** Of its answer only the code of OAuth2 is told (`invalid_grant`): descriptions may repeat what was sent. */
function refusal(status: number, text: string, { realm = '' }: KeycloakConfig): TrinoError {
  if (status >= 500 || status === 429)
    return new TrinoError(`Keycloak answered ${status}`, passing('connection_error'));
  if (status === 404)
    return new TrinoError(
      `Keycloak has no realm "${realm}" there; check keycloak.serverURL and realm`,
      lasting('auth_error'),
    );
  const answer = parseJson(text);
  const code = isObject(answer) ? get(answer, 'error') : undefined;
  const said = typeof code === 'string' && CODE.test(code) ? `${status}, ${code}` : String(status);
  return new TrinoError(
    `Keycloak refused to give a token (${said}); check the client, the user and their secrets in keycloak`,
    lasting('auth_error'),
  );
}
