import { expect, test } from 'vitest';
import { queryTrouble } from './trouble.ts';

const kind = (errorName: string, errorType: string, message = 'm') => {
  const { type, isRetryable, isAboutRow } = queryTrouble({ message, errorName, errorType });
  return `${type}${isRetryable ? ' again' : ''}${isAboutRow ? ' row' : ''}`;
};

test('every refusal is told apart by what helps: another attempt, without the row, or somebody who changes something', () => {
  expect(kind('INVALID_CAST_ARGUMENT', 'USER_ERROR')).toBe('invalid_data row');
  expect(kind('CONSTRAINT_VIOLATION', 'USER_ERROR')).toBe('constraint_violation row');
  expect(kind('QUERY_TEXT_TOO_LARGE', 'USER_ERROR')).toBe('invalid_data row');
  expect(kind('PERMISSION_DENIED', 'USER_ERROR')).toBe('auth_error');
  expect(kind('TABLE_NOT_FOUND', 'USER_ERROR')).toBe('unknown');
  expect(kind('SOME_NEW_USER_ERROR', 'USER_ERROR')).toBe('unknown');
  expect(kind('ABANDONED_QUERY', 'USER_ERROR')).toBe('timeout again');
  expect(kind('TRANSACTION_CONFLICT', 'USER_ERROR')).toBe('transient again');
  expect(kind('EXCEEDED_TIME_LIMIT', 'INSUFFICIENT_RESOURCES')).toBe('timeout again');
  expect(kind('QUERY_QUEUE_FULL', 'INSUFFICIENT_RESOURCES')).toBe('transient again');
  expect(kind('CLUSTER_OUT_OF_MEMORY', 'INSUFFICIENT_RESOURCES')).toBe('transient again');
  expect(kind('TOO_MANY_REQUESTS_FAILED', 'INTERNAL_ERROR')).toBe('transient again');
  expect(kind('SERVER_STARTING_UP', 'INTERNAL_ERROR')).toBe('connection_error again');
  expect(kind('ICEBERG_COMMIT_ERROR', 'EXTERNAL')).toBe('transient again');
  expect(kind('JDBC_ERROR', 'EXTERNAL', 'Connection refused')).toBe('transient again');
  const duplicate = 'ERROR: duplicate key value violates unique constraint "t_pkey"';
  expect(kind('JDBC_ERROR', 'EXTERNAL', duplicate)).toBe('constraint_violation row');
});

test('only words that can not quote a value may go to a log', () => {
  const said = (errorName: string, message: string) => queryTrouble({ message, errorName, errorType: 'USER_ERROR' });
  expect(said('TABLE_NOT_FOUND', "Table 'a.b.c' does not exist").message).toBe(
    "Table 'a.b.c' does not exist (TABLE_NOT_FOUND)",
  );
  for (const name of ['SYNTAX_ERROR', 'INVALID_LITERAL', 'GENERIC_USER_ERROR', 'JDBC_ERROR', 'NEVER_HEARD_OF']) {
    const error = said(name, "mismatched input 'hunter2'");
    expect(`${error.message} ${error.stack}`).not.toContain('hunter2');
    expect(error.detail).toContain('hunter2');
  }
});
