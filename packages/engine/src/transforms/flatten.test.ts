import { expect, test } from 'vitest';
import { Payload } from '../payload.ts';
import { flatten } from './flatten.ts';
import { isUntouched, textsOf } from './test-message.ts';

test.each([
  ['rows', '{"o":7,"rows":[{"s":1},{"s":2}]}', ['{"o":7,"s":1}', '{"o":7,"s":2}']],
  ['$.rows', '{"o":7,"rows":[{"o":0.10}]}', ['{"o":0.10}']],
  [
    'items',
    '{"order_id":12345,"customer":"John Doe","items":[{"product":"Apple","quantity":5},{"product":"Banana","quantity":3}]}',
    [
      '{"order_id":12345,"customer":"John Doe","product":"Apple","quantity":5}',
      '{"order_id":12345,"customer":"John Doe","product":"Banana","quantity":3}',
    ],
  ],
  [
    'orders.items',
    '{"customer_id":100,"orders":{"items":[{"sku":"SKU001","price":10.99},{"sku":"SKU002","price":5.99}]}}',
    [
      '{"customer_id":100,"orders":{},"sku":"SKU001","price":10.99}',
      '{"customer_id":100,"orders":{},"sku":"SKU002","price":5.99}',
    ],
  ],
  [
    'a.tags',
    '{"a":{"tags":["x",null,[1]],"b":1}}',
    ['{"a":{"b":1},"tags":"x"}', '{"a":{"b":1},"tags":null}', '{"a":{"b":1},"tags":[1]}'],
  ],
  ['rows', '{"o":7,"rows":[]}', ['{"o":7}']],
  ['rows', '{"o":7,"rows":{"array":[{"s":1}]}}', ['{"o":7,"s":1}']],
  ['rows', '{"b":1,"rows":[{"10":1,"2":2}]}', ['{"b":1,"10":1,"2":2}']],
])('%s of %s', (field, before, after) => expect(textsOf(flatten({ field }), before)).toEqual(after));

test('without such an array the message passes untouched', () => {
  const payloads = [
    '{"rows":5}',
    '{"o":1}',
    '{"rows":{"array":[1],"more":1}}',
    '[[1]]',
    'null',
    'no json',
    Buffer.from([1, 2, 255]),
    null,
  ];
  for (const payload of payloads) expect(isUntouched(flatten({ field: 'rows' }), payload)).toBe(true);
});

test('each message has the metadata and the origin of the one it came from', () => {
  const [message] = flatten({ field: 'rows' })({ ...messageWithRows() });
  expect(message).toMatchObject({ metadata: { topic: 't' }, origin: { partition: '3', sequence: 9 } });
});

test('several arrays at once are refused', () => {
  expect(() => flatten({ field: 'a.#.rows' })).toThrow("without '#'");
});

function messageWithRows() {
  const payload = Payload.ofText('{"rows":[{},{}]}');
  return { payload, metadata: { topic: 't' }, origin: { partition: '3', sequence: 9, position: 1, readAt: 0 } };
}
