import { expect, test } from 'vitest';
import { Payload } from './payload.ts';

test('bytes leave as they came, whether anybody looked or not', () => {
  const bytes = Buffer.from([0xff, 0x00, 0x7b, 0xfe]);
  const payload = Payload.ofBytes(bytes);
  expect(payload.json).toBeUndefined();
  expect(payload.text).toBe('\ufffd\u0000{\ufffd');
  expect(payload.bytes).toBe(bytes);
  expect(payload.size).toBe(4);
});

test('what is JSON but for its encoding is none, so that no transformation replaces letters for good', () => {
  expect(Payload.ofBytes(Buffer.from('{"name":"caf\u00e9"}', 'latin1')).json).toBeUndefined();
  expect(Payload.ofBytes(Buffer.from('{"name":"caf\u00e9"}')).json).toEqual({ name: 'caf\u00e9' });
});

test('text that is JSON keeps its spaces and escapes', () => {
  const payload = Payload.ofText('{ "a" : "\\u0041" }');
  expect(payload.json).toEqual({ a: 'A' });
  expect(payload.bytes.toString()).toBe('{ "a" : "\\u0041" }');
});

test('a JSON value is printed when somebody asks', () => {
  expect(Payload.ofJson(null).text).toBe('null');
  expect(Payload.ofJson({ a: [1] }).bytes.toString()).toBe('{"a":[1]}');
  expect(Payload.ofJson({ a: [1] }).size).toBe(9);
});

test('only no bytes are empty', () => {
  expect([Payload.ofText(''), Payload.ofBytes(Buffer.alloc(0))].every(({ isEmpty }) => isEmpty)).toBe(true);
  expect([Payload.ofJson(null), Payload.ofJson(''), Payload.ofText('""')].some(({ isEmpty }) => isEmpty)).toBe(false);
});
