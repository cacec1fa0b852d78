import { afterEach, expect, test } from 'vitest';
import { type Reply, type ScriptedServer, scriptedServer } from '../../../test/trino/scripted-server.ts';
import { VirtualClock } from '../../testing/index.ts';
import type { KeycloakConfig } from './config.ts';
import { tokensOf } from './keycloak.ts';

const never = new AbortController().signal;
const servers: ScriptedServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});

async function keycloakOf(answer: (count: number) => Reply) {
  let count = 0;
  const server = await scriptedServer(() => answer(++count));
  servers.push(server);
  return server;
}

const granting = (expiresIn: number | undefined) => (count: number) => ({
  json: { access_token: `token-${count}`, ...(expiresIn === undefined ? {} : { expires_in: expiresIn }) },
});

function tokens(keycloak: KeycloakConfig) {
  const clock = new VirtualClock();
  return { clock, tokens: tokensOf(keycloak, { fetch, clock }) };
}

const client = { realm: 'my realm', clientID: 'polder', clientSecret: 's&cret=' };

test('a user with a password, or a client with a secret, gets a token; what is sent is encoded', async () => {
  const server = await keycloakOf(granting(300));
  const user = { ...client, serverURL: `${server.url}/`, username: 'me@home', password: 'p+ss&word' };
  expect(await tokens(user).tokens.current(never)).toBe('token-1');
  expect(await tokens({ ...client, serverURL: server.url }).tokens.current(never)).toBe('token-2');
  expect(server.log).toEqual(Array.from({ length: 2 }, () => 'POST /realms/my%20realm/protocol/openid-connect/token'));
  expect(server.asked.map(({ body }) => Object.fromEntries(new URLSearchParams(body)))).toEqual([
    {
      grant_type: 'password',
      client_id: 'polder',
      client_secret: 's&cret=',
      username: 'me@home',
      password: 'p+ss&word',
    },
    { grant_type: 'client_credentials', client_id: 'polder', client_secret: 's&cret=' },
  ]);
});

test('a token is replaced after four fifths of its life, after a minute at the earliest', async () => {
  for (const [expiresIn, lifeMs] of [
    [300, 240_000],
    [10, 60_000],
    [undefined, 300_000],
  ] as const) {
    const server = await keycloakOf(granting(expiresIn));
    const { tokens: ours, clock } = tokens({ ...client, serverURL: server.url });
    expect(await ours.current(never)).toBe('token-1');
    await clock.advance(lifeMs - 1);
    expect(await ours.current(never)).toBe('token-1');
    await clock.advance(1);
    expect(await ours.current(never)).toBe('token-2');
  }
});

test('a token that was refused is replaced, unless somebody has done so already', async () => {
  const server = await keycloakOf(granting(300));
  const { tokens: ours } = tokens({ ...client, serverURL: server.url });
  await ours.current(never);
  expect(await ours.another('token-1', never)).toBe('token-2');
  expect(await ours.another('token-1', never)).toBe('token-2');
});

test('a token that is given is used as it is, and there is no other', async () => {
  const { tokens: ours } = tokens({ token: 'given', serverURL: 'http://nowhere.invalid' });
  expect(await ours.current(never)).toBe('given');
  expect(await ours.another('given', never)).toBeUndefined();
});

test('a refusal is told by its code, and never with a secret', async () => {
  const refused = await keycloakOf(() => ({
    status: 401,
    text: JSON.stringify({ error: 'invalid_client', error_description: 'wrong secret s&cret=' }),
  }));
  await expect(tokens({ ...client, serverURL: refused.url }).tokens.current(never)).rejects.toMatchObject({
    message:
      'Keycloak refused to give a token (401, invalid_client); check the client, the user and their secrets in keycloak',
    type: 'auth_error',
    isRetryable: false,
  });
  const missing = await keycloakOf(() => ({ status: 404, text: '' }));
  await expect(tokens({ ...client, serverURL: missing.url }).tokens.current(never)).rejects.toThrow(
    'has no realm "my realm"',
  );
  const down = await keycloakOf(() => ({ status: 503, text: '' }));
  await expect(tokens({ ...client, serverURL: down.url }).tokens.current(never)).rejects.toMatchObject({
    isRetryable: true,
  });
});
