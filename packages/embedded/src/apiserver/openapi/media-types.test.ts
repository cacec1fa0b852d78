import { expect, test } from 'vitest';
import { acceptsJson, swaggerForm } from './media-types.ts';

const BY_KUBECTL = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';

test.each([
  [undefined, 'json'],
  ['*/*', 'json'],
  ['application/json', 'json'],
  [BY_KUBECTL, 'protobuf'],
  ['application/com.github.proto-openapi.spec.v2.v1.0+protobuf', 'protobuf'],
  [`text/html, ${BY_KUBECTL}; q=0.9, application/json`, 'protobuf'],
  ['application/com.github.proto-openapi.spec.v3.v1.0+protobuf', undefined],
])('who accepts %s gets the old document as %s', (accept, form) => {
  expect(swaggerForm(accept)).toBe(form);
});

test('a client that takes protobuf alone is refused JSON', () => {
  expect(acceptsJson(BY_KUBECTL)).toBe(false);
  expect(acceptsJson('application/json, */*')).toBe(true);
  expect(acceptsJson(undefined)).toBe(true);
});
