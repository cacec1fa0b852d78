import { expect, test } from 'vitest';
import { headersToPayload } from './headers-to-payload.ts';
import { isUntouched, textOf } from './test-message.ts';

const transform = headersToPayload({ mappings: ['X-Request-Id:requestId', 'X-Language:$.metadata.language'] });

test('headers become strings in the document', () => {
  const headers = { 'X-Request-Id': 'req-123', 'X-Language': Buffer.from('en') };
  expect(textOf(transform, '{"data":0.10}', { headers })).toBe(
    '{"data":0.10,"requestId":"req-123","metadata":{"language":"en"}}',
  );
});

test('one that is missing is skipped', () => {
  expect(textOf(transform, '{"data":1}', { headers: { 'X-Language': 'en' } })).toBe(
    '{"data":1,"metadata":{"language":"en"}}',
  );
});

test('without headers, or without an object, the message passes untouched', () => {
  for (const headers of [undefined, null, 'X', [], {}, 5])
    expect(isUntouched(transform, '{ "a": 1 }', { headers })).toBe(true);
  for (const payload of ['[1]', 'no json', null])
    expect(isUntouched(transform, payload, { headers: { 'X-Request-Id': '1' } })).toBe(true);
  expect(isUntouched(headersToPayload({ mappings: ['toString:x'] }), '{}', { headers: {} })).toBe(true);
});

test('a mapping without its colon is refused', () => {
  expect(() => headersToPayload({ mappings: ['X-Request-Id'] })).toThrow('invalid header mapping format');
});
