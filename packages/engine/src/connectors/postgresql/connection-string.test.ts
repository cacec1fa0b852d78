import { expect, test } from 'vitest';
import { urlOf } from './connection-string.ts';

test('words say the same as a URL', () => {
  const words = `host=db.example port = 6432 user=ann password='it\\'s a \\\\ secret' dbname=sales sslmode=require`;
  const url = urlOf(words);
  expect(decodeURIComponent(url.password)).toBe(`it's a \\ secret`);
  url.password = '';
  expect(url.href).toBe('postgres://ann@db.example:6432/sales?sslmode=require');
  expect(urlOf('postgresql://u:p@h/d?sslmode=disable').href).toBe('postgresql://u:p@h/d?sslmode=disable');
  expect(decodeURIComponent(urlOf('host=/run/postgresql dbname=d').hostname)).toBe('/run/postgresql');
});

test('anything else is refused without being repeated', () => {
  for (const text of [
    '',
    'hunter2',
    'mysql://u:hunter2@h/d',
    'postgres://u:hunter2@[',
    "password='hunter2",
    'postgres://u:hunter2%zz@h/d',
  ])
    expect(() => urlOf(text)).toThrow(/^connectionString is not one of PostgreSQL: (?!.*hunter2)/);
});
