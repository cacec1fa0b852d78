import { expect, test } from 'vitest';
import { bindAddressOf } from './bind-address.ts';

test('an address without a host is on loopback', () => {
  expect(bindAddressOf(':9090')).toEqual({ host: '127.0.0.1', port: 9_090 });
  expect(bindAddressOf('0.0.0.0:0')).toEqual({ host: '0.0.0.0', port: 0 });
  expect(bindAddressOf('[::]:9090')).toEqual({ host: '::', port: 9_090 });
});

test.each(['9090', 'host', ':65536', '::1:9090', ':'])('%s is no address', (text) => {
  expect(bindAddressOf(text)).toBeUndefined();
});
