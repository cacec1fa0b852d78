import { expect, test } from 'vitest';
import { explain } from './trouble.ts';

const thrown = (code: string, message = 'm') => Object.assign(new Error(message), { code });

test('every refusal is told apart by what helps: another attempt, without the row, or somebody who changes something', () => {
  const kinds = {
    '22P02': 'invalid_data row',
    '23505': 'constraint_violation row',
    '54000': 'invalid_data row',
    P0001: 'constraint_violation row',
    '28P01': 'auth_error',
    '42501': 'auth_error',
    '42P01': 'unknown',
    '08006': 'connection_error again',
    '57P01': 'connection_error again',
    '57P03': 'transient again',
    '57014': 'timeout again',
    '40001': 'transient again',
    '40P01': 'transient again',
    '53300': 'transient again',
    '25006': 'transient again',
    ECONNREFUSED: 'connection_error again',
    EPIPE: 'connection_error again',
    ETIMEDOUT: 'timeout again',
    ERR_INVALID_ARG_TYPE: 'unknown',
  };
  const said = Object.keys(kinds).map((code) => {
    const { type, isRetryable, isAboutRow } = explain(thrown(code));
    return [code, `${type}${isRetryable ? ' again' : ''}${isAboutRow ? ' row' : ''}`];
  });
  expect(Object.fromEntries(said)).toEqual(kinds);
});

test('a row that a policy refuses is at fault itself, a table that is forbidden is not', () => {
  const message = 'new row violates row-level security policy for table "t"';
  expect(explain(thrown('42501', message))).toMatchObject({ isAboutRow: true, type: 'constraint_violation' });
});

test('secrets are taken out, and what carried them is not kept', () => {
  const error = explain(new Error('no route to postgres://u:hunter2@h', { cause: 'hunter2' }), ['hunter2']);
  expect(error.message).toBe('no route to postgres://u:***@h');
  expect(error.cause).toBeUndefined();
});
