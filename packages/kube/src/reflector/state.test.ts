import { describe, expect, test } from 'vitest';
import { ApiError, TransportError } from '../client/index.ts';
import { backoffMs, type Ending, next, type State } from './state.ts';

const watching: State = { do: 'watch', from: '5' };
const streaming: State = { do: 'stream' };
const apiError = (code: number, reason: string, cause?: string) =>
  new ApiError(code, { kind: 'Status', reason, details: { causes: cause ? [{ reason: cause }] : [] } });
const failed = (error: unknown, version?: string): Ending => ({ ended: 'failed', error, version });
const broken = new TransportError('reset', { sent: true });

describe('after', () => {
  test.each<[string, State, Ending, State, boolean]>([
    [
      'a list, it watches from there',
      { do: 'list' },
      { ended: 'listed', version: '9' },
      { do: 'watch', from: '9' },
      false,
    ],
    [
      'the server ends a watch, it resumes at once',
      watching,
      { ended: 'closed', version: '8', wasUseless: false },
      { do: 'watch', from: '8' },
      false,
    ],
    [
      'a watch that ended at once, it waits',
      watching,
      { ended: 'closed', version: '5', wasUseless: true },
      watching,
      true,
    ],
    [
      'silence, it resumes where it was',
      watching,
      { ended: 'silent', version: '7' },
      { do: 'watch', from: '7' },
      false,
    ],
    ['silence in the first list, it starts over', streaming, { ended: 'silent', version: undefined }, streaming, false],
    [
      'an expired version, it fetches all anew at once',
      watching,
      failed(apiError(410, 'Expired'), '5'),
      streaming,
      false,
    ],
    [
      'a version the server has not reached, it fetches the newest',
      watching,
      failed(apiError(504, 'Timeout', 'ResourceVersionTooLarge'), '5'),
      streaming,
      false,
    ],
    [
      'a broken connection, it resumes and does not list',
      watching,
      failed(broken, '6'),
      { do: 'watch', from: '6' },
      true,
    ],
    [
      'too many requests, it resumes and does not list',
      watching,
      failed(apiError(429, 'TooManyRequests'), '6'),
      { do: 'watch', from: '6' },
      true,
    ],
    [
      'a fault of the server, it resumes and does not list',
      watching,
      failed(apiError(500, 'InternalError'), '6'),
      { do: 'watch', from: '6' },
      true,
    ],
    ['a broken first list, it starts over', streaming, failed(broken), streaming, true],
    ['a forbidden watch, it keeps asking', watching, failed(apiError(403, 'Forbidden'), '5'), streaming, true],
    ['anything unheard of, it fetches all anew', watching, failed(new SyntaxError('bad line'), '6'), streaming, true],
  ])('%s', (_, state, ending, expected, backOff) => {
    expect(next(state, ending, true)).toEqual({ state: expected, backOff });
  });
});

test('a server that cannot stream lists is asked for pages, and not asked again', () => {
  const then = next(streaming, failed(apiError(422, 'Invalid')), true);
  expect(then).toEqual({ state: { do: 'list' }, backOff: false, cannotStream: true });
  expect(next(watching, failed(apiError(410, 'Expired'), '5'), false).state).toEqual({ do: 'list' });
});

test('no wait is much longer than a quarter of the trouble before it, nor than 30 s', () => {
  let waited = 0;
  for (let failures = 1; failures < 40; failures++) {
    const longest = backoffMs(failures, 0);
    expect(longest).toBeLessThanOrEqual(Math.min(101 + waited / 4, 30_000));
    expect(backoffMs(failures, 0.999)).toBeGreaterThanOrEqual(longest / 2);
    waited += longest;
  }
});
