import { createAuthority, issue, type Pair } from '@polder/kube/certificates';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { realClock } from '../../../test/postgres/clock.ts';
import {
  type Asked,
  inTurn,
  type Reply,
  type ScriptedServer,
  scriptedServer,
} from '../../../test/trino/scripted-server.ts';
import type { Clock } from '../../clock.ts';
import { printJson } from '../../json/index.ts';
import { type ClientOptions, TrinoClient } from './client.ts';
import { fetchOf } from './fetch-over-tls.ts';

const never = new AbortController().signal;
const servers: ScriptedServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});

/** Time that passes fifty times as fast, for what takes half a minute. */
const fastClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now() * 50,
  after: (ms, callback) => realClock.after(ms / 50, callback),
};

async function serverOf(reply: Parameters<typeof scriptedServer>[0]): Promise<ScriptedServer> {
  const server = await scriptedServer(reply);
  servers.push(server);
  return server;
}

const clientOf = (serverURL: string, options: Partial<ClientOptions> = {}) =>
  new TrinoClient({ serverURL, catalog: 'c', schema: 's', fetch, clock: realClock, random: () => 0, ...options });

const columns = [{ name: 'id', type: 'bigint' }];
const failed = {
  message: "Cannot cast 'hunter2' to BIGINT",
  errorName: 'INVALID_CAST_ARGUMENT',
  errorType: 'USER_ERROR',
};

/** Answers the POST with the first page, and `/executing/n` with the others, unless `replies` has something else to say. */
function pagesOf(count: number, replies: Readonly<Record<string, () => Reply | undefined>> = {}) {
  return ({ method, path }: Pick<Asked, 'method' | 'path'>, url: string): Reply => {
    const otherwise = replies[`${method} ${path}`]?.();
    if (otherwise) return otherwise;
    if (method === 'DELETE') return { status: 204 };
    const at = method === 'POST' ? 0 : Number(path.split('/').at(-1));
    const next = at < count ? { nextUri: `${url}/v1/statement/executing/${at + 1}` } : {};
    return { json: { id: 'q', columns, data: [[at]], stats: { state: 'RUNNING' }, ...next } };
  };
}

const page = (at: number) => `GET /v1/statement/executing/${at}`;
const POST = 'POST /v1/statement';

describe('a result', () => {
  test('comes page by page, each when it is asked for, with all its digits', async () => {
    const server = await serverOf(({ method }, url) =>
      method === 'POST'
        ? { json: { nextUri: `${url}/v1/statement/queued/1` } }
        : { status: 200, text: `{"columns":${JSON.stringify(columns)},"data":[[9007199254740993],[0.10]]}` },
    );
    const { rows } = await clientOf(server.url).run('SELECT 1', never);
    expect(rows.map(printJson)).toEqual(['[9007199254740993]', '[0.10]']);

    const many = await serverOf(pagesOf(3));
    const pages = clientOf(many.url).pages('SELECT 1', never);
    await pages.next();
    expect(many.log).toEqual([POST]);
    await pages.next();
    expect(many.log).toEqual([POST, page(1)]);
    expect((await clientOf(many.url).run('SELECT 1', never)).rows).toEqual([[0], [1], [2], [3]]);
  });

  test('that nobody wants any more is cancelled where it stands', async () => {
    const server = await serverOf(pagesOf(9));
    for await (const { rows } of clientOf(server.url).pages('SELECT 1', never)) if (rows[0]?.[0] === 2) break;
    expect(server.log).toEqual([POST, page(1), page(2), 'DELETE /v1/statement/executing/3']);
  });

  test('that does not come is cancelled when the signal aborts, and the reason is told', async () => {
    const server = await serverOf(pagesOf(9, { [page(2)]: () => 'silence' }));
    const stop = new AbortController();
    const running = clientOf(server.url).run('SELECT 1', stop.signal);
    while (!server.log.includes(page(2))) await new Promise((resolve) => setImmediate(resolve));
    stop.abort(new Error('enough'));
    await expect(running).rejects.toThrow('enough');
    expect(server.log).toEqual([POST, page(1), page(2), 'DELETE /v1/statement/executing/2']);
  });
});

describe('an error of a query', () => {
  test('is told on the first page, and on any other', async () => {
    const first = await serverOf(() => ({ json: { error: failed } }));
    await expect(clientOf(first.url).run('SELECT 1', never)).rejects.toMatchObject({
      errorName: 'INVALID_CAST_ARGUMENT',
    });
    const later = await serverOf(pagesOf(9, { [page(2)]: () => ({ json: { error: failed } }) }));
    await expect(clientOf(later.url).run('SELECT 1', never)).rejects.toMatchObject({ isAboutRow: true });
    expect(later.log).toEqual([POST, page(1), page(2)]);
  });

  test('has a text without the value at fault, which only its detail quotes', async () => {
    const server = await serverOf(() => ({ json: { error: failed } }));
    const error: unknown = await clientOf(server.url)
      .run("INSERT 'hunter2'", never)
      .catch((thrown: unknown) => thrown);
    expect(String(error)).toBe('TrinoError: the statement failed (INVALID_CAST_ARGUMENT)');
    expect(error).toMatchObject({ detail: "Cannot cast 'hunter2' to BIGINT (INVALID_CAST_ARGUMENT)" });
  });
});

describe('what stands in front of Trino', () => {
  test('is asked again, at the same address, when it answers 502, 503, 504 or 429', async () => {
    const busy = inTurn({ status: 503 }, { status: 502 });
    const busyPage = inTurn({ status: 504 }, { status: 429 });
    const server = await serverOf(pagesOf(2, { [POST]: busy, [page(1)]: busyPage }));
    expect((await clientOf(server.url).run('SELECT 1', never)).rows).toEqual([[0], [1], [2]]);
    expect(server.log).toEqual([POST, POST, POST, page(1), page(1), page(1), page(2)]);
  });

  test('is not asked for ever', async () => {
    const server = await serverOf(() => ({ status: 503 }));
    await expect(clientOf(server.url, { clock: fastClock }).run('SELECT 1', never)).rejects.toMatchObject({
      message: expect.stringContaining('answered 503'),
      type: 'connection_error',
      isRetryable: true,
    });
  });

  test('may break a connection or fall silent in the middle: the page is asked for again', async () => {
    const server = await serverOf(
      pagesOf(2, {
        [page(1)]: inTurn('reset'),
        [page(2)]: inTurn('silence'),
      }),
    );
    expect((await clientOf(server.url, { clock: fastClock }).run('SELECT 1', never)).rows).toEqual([[0], [1], [2]]);
    expect(server.log).toEqual([POST, page(1), page(1), page(2), page(2)]);
  });
});

test('a query that Trino has lost is told as such, and may be run again', async () => {
  const server = await serverOf(pagesOf(2, { [page(1)]: () => ({ status: 404 }) }));
  await expect(clientOf(server.url).run('SELECT 1', never)).rejects.toMatchObject({
    message: expect.stringContaining('has lost the query (404)'),
    isRetryable: true,
  });
});

test('what is no Trino is told as such', async () => {
  const page = await serverOf(() => ({ status: 200, text: '<html>' }));
  await expect(clientOf(page.url).run('SELECT 1', never)).rejects.toThrow('what answers is no Trino; check serverURL');
  const elsewhere = await serverOf(() => ({ status: 302 }));
  await expect(clientOf(elsewhere.url).run('SELECT 1', never)).rejects.toThrow('answered 302; check serverURL');
});

describe('who we are', () => {
  test('is said with the statement, with where and how it is to run', async () => {
    const server = await serverOf(pagesOf(1));
    await clientOf(`${server.url}/`, { queryTimeoutSeconds: 7 }).run('SELECT 1', never);
    expect(server.asked[0]).toMatchObject({
      body: 'SELECT 1',
      headers: {
        'x-trino-user': 'dataflow-operator',
        'x-trino-catalog': 'c',
        'x-trino-schema': 's',
        'x-trino-time-zone': 'UTC',
        'x-trino-client-capabilities': 'PARAMETRIC_DATETIME',
        'x-trino-session': 'query_max_run_time=7s',
      },
    });
    expect(server.asked[1]?.headers).not.toHaveProperty('x-trino-session');
  });

  test('may be part of the address', async () => {
    const server = await serverOf(pagesOf(1));
    await clientOf(server.url.replace('//', '//me:p%40ss@')).run('SELECT 1', never);
    const authorization = `Basic ${Buffer.from('me:p@ss').toString('base64')}`;
    expect(server.asked[0]?.headers).toMatchObject({ 'x-trino-user': 'me', authorization });
    expect(server.asked[1]?.headers).toMatchObject({ authorization });
  });

  test('is not told in the message of an address that is none', () => {
    for (const serverURL of ['http://me:hunter2@', 'http://me%zz:hunter2@trino', 'hunter2'])
      expect(() => clientOf(serverURL)).toThrow('serverURL is no address; it should look like https://trino:8443');
  });

  const denial = 'Access Denied: User alice cannot impersonate user dataflow-operator';
  test.for<Reply>([
    { json: { error: { message: denial, errorName: 'PERMISSION_DENIED', errorType: 'USER_ERROR' } } },
    { status: 403, text: denial },
  ])('is what the token says where Trino lets nobody call himself something else: %j', async (refused) => {
    const server = await serverOf((asked, url) =>
      asked.headers['x-trino-user'] === undefined || asked.method === 'GET' ? pagesOf(1)(asked, url) : refused,
    );
    const client = clientOf(server.url, { keycloak: { token: 'secret' } });
    expect((await client.run('SELECT 1', never)).rows).toEqual([[0], [1]]);
    await client.run('SELECT 1', never);
    expect(server.log).toEqual([POST, POST, page(1), POST, page(1)]);
  });

  test('is told to nobody else', async () => {
    const stranger = await serverOf(pagesOf(1));
    const server = await serverOf(() => ({ json: { nextUri: `${stranger.url}/v1/statement/executing/1` } }));
    await expect(clientOf(server.url, { keycloak: { token: 'secret' } }).run('SELECT 1', never)).rejects.toMatchObject({
      message: expect.stringContaining('set http-server.process-forwarded on Trino'),
      type: 'auth_error',
    });
    expect(stranger.asked).toEqual([]);
    // Who has no secret may be sent anywhere.
    expect((await clientOf(server.url).run('SELECT 1', never)).rows).toEqual([[1]]);
  });
});

test('a token that is refused is replaced once, wherever in the query that happens', async () => {
  let granted = 0;
  const keycloakServer = await serverOf(() => ({ json: { access_token: `token-${++granted}`, expires_in: 300 } }));
  const isGood = (authorization: string | undefined) => authorization === `Bearer token-${granted}`;
  const server = await serverOf((asked, url) => {
    // In the middle of the query the token is withdrawn.
    if (asked.path.endsWith('/executing/2') && granted === 1) return { status: 401 };
    return isGood(asked.headers.authorization) ? pagesOf(3)(asked, url) : { status: 401 };
  });
  const keycloak = { serverURL: keycloakServer.url, realm: 'r', clientID: 'c', clientSecret: 'hunter2' };
  expect((await clientOf(server.url, { keycloak }).run('SELECT 1', never)).rows).toHaveLength(4);
  expect(granted).toBe(2);

  const closed = await serverOf(() => ({ status: 401, text: 'hunter2' }));
  await expect(clientOf(closed.url, { keycloak }).run('SELECT 1', never)).rejects.toMatchObject({
    message: expect.stringMatching(/refused our credentials \(401\); check keycloak, or the user in serverURL$/),
    type: 'auth_error',
    isRetryable: false,
  });
  expect(closed.log).toEqual([POST, POST]);
});

describe('over TLS', () => {
  const term = { validMs: 3_600_000, now: Date.now() };
  let authority: Pair;
  let serving: Pair;
  beforeAll(async () => {
    authority = await createAuthority({ name: 'ours', ...term });
    serving = await issue(authority, { name: 'trino', use: 'server', ipAddresses: ['127.0.0.1'], ...term });
  });
  const overTls = async (reply: Parameters<typeof scriptedServer>[0]) => {
    const server = await scriptedServer(reply, serving);
    servers.push(server);
    return server;
  };
  const trusting = (options: Partial<ClientOptions> = {}) => ({
    fetch: fetchOf({ caFile: authority.certificate }),
    ...options,
  });

  test('pages come as they do without, on one connection after the other that breaks', async () => {
    const server = await overTls(pagesOf(3, { [page(2)]: inTurn('reset', { status: 503 }) }));
    const client = clientOf(server.url, trusting({ keycloak: { token: 'secret' } }));
    expect((await client.run('SELECT 1', never)).rows).toEqual([[0], [1], [2], [3]]);
    expect(server.asked.every(({ headers }) => headers.authorization === 'Bearer secret')).toBe(true);
    expect(server.asked[0]?.body).toBe('SELECT 1');
  });

  test('a query is cancelled when the signal aborts', async () => {
    const server = await overTls(pagesOf(9, { [page(1)]: () => 'silence' }));
    const stop = new AbortController();
    const running = clientOf(server.url, trusting()).run('SELECT 1', stop.signal);
    while (!server.log.includes(page(1))) await new Promise((resolve) => setImmediate(resolve));
    stop.abort(new Error('enough'));
    await expect(running).rejects.toThrow('enough');
    expect(server.log).toEqual([POST, page(1), 'DELETE /v1/statement/executing/1']);
  });

  test('nobody talks us into clear text: not by the address of a page, not by a redirect, whether we have a secret or not', async () => {
    const plain = await serverOf(pagesOf(1));
    const proxied = await overTls(() => ({ json: { nextUri: `${plain.url}/v1/statement/executing/1` } }));
    const redirected = await overTls(() => ({ status: 307, headers: { location: `${plain.url}/v1/statement` } }));
    for (const keycloak of [undefined, { token: 'secret' }]) {
      await expect(clientOf(proxied.url, trusting({ keycloak })).run('SELECT 1', never)).rejects.toMatchObject({
        message: expect.stringMatching(/in clear text, although serverURL is https: set http-server.process-forwarded/),
        isRetryable: false,
      });
      await expect(clientOf(redirected.url, trusting({ keycloak })).run('SELECT 1', never)).rejects.toThrow(
        'answered 307; check serverURL',
      );
    }
    expect(plain.asked).toEqual([]);
  });

  test('Keycloak is believed by the same authority, and only by that', async () => {
    const keycloakServer = await overTls(() => ({ json: { access_token: 'granted', expires_in: 300 } }));
    const server = await overTls(pagesOf(0));
    const keycloak = { serverURL: keycloakServer.url, realm: 'r', clientID: 'c', clientSecret: 'hunter2' };
    await clientOf(server.url, trusting({ keycloak })).run('SELECT 1', never);
    expect(server.asked[0]?.headers.authorization).toBe('Bearer granted');
    await expect(clientOf(server.url, { keycloak }).run('SELECT 1', never)).rejects.toMatchObject({
      message: expect.stringMatching(
        /^Keycloak at .+: its certificate is not trusted; name its authority in tls.caFile$/,
      ),
      isRetryable: false,
    });
    expect(keycloakServer.asked).toHaveLength(1);
  });

  test('a certificate for another host is told as such', async () => {
    const server = await overTls(pagesOf(0));
    await expect(
      clientOf(server.url.replace('127.0.0.1', 'localhost'), trusting()).run('SELECT 1', never),
    ).rejects.toThrow(/: its certificate is for another host; use a name that it has$/);
  });
});
