import { expect, test } from 'vitest';
import { snakeCase, toSnakeCase } from './snake-case.ts';
import { isUntouched, textOf } from './test-message.ts';

test.each([
  ['firstName', 'first_name'],
  ['FirstName', 'first_name'],
  ['userName', 'user_name'],
  ['first_name', 'first_name'],
  ['userID123', 'user_id123'],
  ['name', 'name'],
  ['USERNAME', 'username'],
  ['XMLHttpRequest', 'xml_http_request'],
  ['', ''],
  ['XMLParser', 'xml_parser'],
  ['fooBar', 'foo_bar'],
  ['a1B', 'a1_b'],
  ['éÀb', 'é_àb'],
  ['Foo-Bar', 'foo-bar'],
  ['İx', 'İx'],
  ['aİ', 'a_İ'],
])('%s is %s', (key, expected) => expect(toSnakeCase(key)).toBe(expected));

test('the keys of the root, or all', () => {
  const text = '{"firstName":"J","homeAddress":{"zipCode":0.10},"allItems":[{"itemName":1},[{"aB":2}]]}';
  expect(textOf(snakeCase(), text)).toBe(
    '{"first_name":"J","home_address":{"zipCode":0.10},"all_items":[{"itemName":1},[{"aB":2}]]}',
  );
  expect(textOf(snakeCase({ deep: true }), text)).toBe(
    '{"first_name":"J","home_address":{"zip_code":0.10},"all_items":[{"item_name":1},[{"a_b":2}]]}',
  );
  expect(textOf(snakeCase({ deep: true }), '[{"aB":1}]')).toBe('[{"a_b":1}]');
});

test('of keys that become equal the last one wins', () => {
  expect(textOf(snakeCase(), '{"userId":1,"x":0,"user_id":2}')).toBe('{"user_id":2,"x":0}');
  expect(textOf(snakeCase(), '{"user_id":2,"x":0,"userId":1}')).toBe('{"user_id":1,"x":0}');
});

test('what has no such keys passes untouched', () => {
  for (const payload of [
    '{ "a_b": {"cD": 1} }',
    '[{"aB":1}]',
    'null',
    'invalid json',
    Buffer.from([0, 255]),
    null,
    '{}',
  ]) {
    expect(isUntouched(snakeCase({ deep: false }), payload)).toBe(true);
  }
});
