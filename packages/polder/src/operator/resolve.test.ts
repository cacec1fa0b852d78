import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isAddress, isPattern, resolverOf } from './resolve.ts';

const resolve = resolverOf([
  { pattern: '*:9090', to: 'proxy:1' },
  { pattern: '10.244.*:9090', to: 'proxy:2' },
  { pattern: '10.244.0.7:9090', to: 'proxy:3' },
  { pattern: '*.shop.svc:*', to: 'proxy:4' },
  { pattern: '[fd00::*]:9090', to: 'proxy:5' },
]);

describe('an address outside the cluster', () => {
  test.each([
    ['10.244.0.7:9090', 'proxy:3'],
    ['10.244.0.8:9090', 'proxy:2'],
    ['192.168.0.1:9090', 'proxy:1'],
    ['db.shop.svc:5432', 'proxy:4'],
    ['[fd00::1]:9090', 'proxy:5'],
  ])('%s is found by the most specific pattern, wherever it stands', (address, at) => {
    expect(resolve(address)).toBe(at);
  });

  test.each(['10.244.0.7:80', 'db.other.svc:5432', '10.244x0.7:80'])('%s, which no pattern fits, stays', (address) => {
    expect(resolve(address)).toBe(address);
  });

  test('is taken literally in a pattern, whatever it is made of', () => {
    const hosts = fc.string({ minLength: 1 }).filter((host) => isAddress(`${host}:80`));
    fc.assert(
      fc.property(hosts, hosts, (host, other) => {
        expect(resolverOf([{ pattern: `${host}:80`, to: 'a:1' }])(`${other}:80`)).toBe(
          host === other ? 'a:1' : `${other}:80`,
        );
      }),
    );
  });
});

test.each(['a', 'a:', ':80', 'a:0', 'a:65536', 'a:8*', '::1:80', 'a b:80', ''])('%j is neither', (text) => {
  expect([isPattern(text), isAddress(text)]).toEqual([false, false]);
});
