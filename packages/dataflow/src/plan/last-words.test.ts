import { expect, test } from 'vitest';
import { lastWords } from './last-words.ts';

test.each([
  [undefined, ''],
  ['', ''],
  ['starting\npolder: cannot connect to k:9092\n\n', 'polder: cannot connect to k:9092'],
  ['{"level":50,"time":1767225600000,"msg":"stopped","error":"no route to db:5432"}', 'stopped: no route to db:5432'],
  ['{"level":50,"time":1,"msg":"no route to db:5432"}', 'no route to db:5432'],
  ['{"level":50}', '{"level":50}'],
  ['{"cut off', '{"cut off'],
  [`x${'y'.repeat(1_000)}`, `x${'y'.repeat(499)}…`],
])('of %j a person is shown %j', (message, words) => {
  expect(lastWords(message)).toBe(words);
});
