import { createHmac } from 'node:crypto';
import { beforeAll, expect, inject, test } from 'vitest';
import { message } from '../../../test/postgres/messages.ts';
import { type Place, readAll, sinkOf, texts, write } from '../../../test/trino/rig.ts';
import { sqlOf } from '../../../test/trino/sql.ts';
import type { TrinoSinkConfig } from './config.ts';

const { url, https, memory, authority, stranger, tokenKey } = inject('trino');
const never = new AbortController().signal;

/** A token as an identity provider would sign it. */
function tokenOf(user: string, key = tokenKey): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ sub: user, exp: Math.floor(Date.now() / 1000) + 600 })}`;
  return `${signed}.${createHmac('sha256', Buffer.from(key, 'base64')).update(signed).digest('base64url')}`;
}

const table = 'over_tls';
const place: Place = { serverURL: https, catalog: memory, schema: 'default' };
const verified = { insecureSkipVerify: false };
const keycloak = { token: tokenOf('alice') };
const config = { table, keycloak, tls: { ...verified, caFile: authority } };

beforeAll(async () => {
  await sqlOf(url)(`CREATE TABLE ${memory}.default.${table} (id bigint, note varchar)`);
});

test('rows are written and read over TLS by whom the token says, with the authority of the flow', async () => {
  const rows = Array.from({ length: 300 }, (_, id) => ({ id, note: `ä${'x'.repeat(id)}` }));
  const { failures } = await write(
    place,
    config,
    rows.map((row) => message(row)),
  );
  expect(failures).toEqual([]);
  const messages = await readAll(place, config);
  expect(texts(messages)).toEqual(rows.map((row) => JSON.stringify(row)));
  const users = `SELECT DISTINCT "user" FROM system.runtime.queries WHERE query LIKE '%${table}%' AND state = 'FINISHED' AND "user" <> 'judge'`;
  expect(await sqlOf(url)(users)).toEqual(['["alice"]']);
});

const refusal = (given: Partial<TrinoSinkConfig>, at = place) =>
  sinkOf(at, { table, keycloak, ...given })
    .sink.connect(never)
    .catch((error: unknown) => error);

test('a Trino whose certificate another authority signed is not believed, and gets no token', async () => {
  const host = new URL(https).host;
  const untrusted = {
    message: expect.stringMatching(
      new RegExp(`^Trino at ${host} can't be reached \\(.+\\): its certificate is not trusted; name its authority in`),
    ),
    type: 'auth_error',
    isRetryable: false,
  };
  expect(await refusal({ tls: { ...verified, caFile: stranger } })).toMatchObject(untrusted);
  // Not by the authorities of the system either.
  expect(await refusal({ tls: verified })).toMatchObject(untrusted);
  expect(await refusal({})).toMatchObject(untrusted);
});

test('any certificate will do where the flow says so', async () => {
  expect(await refusal({ tls: { insecureSkipVerify: true } })).toBeUndefined();
});

test('a token that Trino does not know the signature of is told as refused', async () => {
  expect(await refusal({ ...config, keycloak: { token: tokenOf('alice', 'c3RyYW5nZXI=') } })).toMatchObject({
    message: expect.stringContaining('refused our credentials (401); check keycloak'),
    type: 'auth_error',
  });
});

test('TLS to a port that speaks none is told as such', async () => {
  expect(await refusal(config, { ...place, serverURL: url.replace('http:', 'https:') })).toMatchObject({
    message: expect.stringMatching(/: it does not speak TLS there; check the address$/),
    isRetryable: false,
  });
});
