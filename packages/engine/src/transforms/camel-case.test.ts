import { expect, test } from 'vitest';
import { camelCase, toCamelCase } from './camel-case.ts';
import { isUntouched, textOf } from './test-message.ts';

test.each([
  ['first_name', 'FirstName'],
  ['name', 'Name'],
  ['user_name_id', 'UserNameId'],
  ['FirstName', 'FirstName'],
  ['user_id_123', 'UserId123'],
  ['', ''],
  ['name_', 'Name'],
  ['_name', 'Name'],
  ['user__name', 'UserName'],
  ['username', 'Username'],
  ['a_b', 'AB'],
  ['___', '___'],
  ['ß_x', 'ßX'],
  ['é_𐐨', 'É𐐀'],
])('%s is %s', (key, expected) => expect(toCamelCase(key)).toBe(expected));

test('the keys of the root, or all', () => {
  const text =
    '{"first_name":"John","address":{"street_name":"Main St","house_number":123},"items":[{"item_price":99.99}]}';
  expect(textOf(camelCase({ deep: true }), text)).toBe(
    '{"FirstName":"John","Address":{"StreetName":"Main St","HouseNumber":123},"Items":[{"ItemPrice":99.99}]}',
  );
  expect(textOf(camelCase(), text)).toBe(
    '{"FirstName":"John","Address":{"street_name":"Main St","house_number":123},"Items":[{"item_price":99.99}]}',
  );
});

test('what is no object passes untouched', () => {
  for (const payload of ['[{"a_b":1}]', '"a_b"', 'invalid json', Buffer.from([0, 255]), null])
    expect(isUntouched(camelCase(), payload)).toBe(true);
});
