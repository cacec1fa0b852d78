import { describe, expect, test } from 'vitest';
import { relocation } from './mounts.ts';

const moved = relocation([
  { path: '/data', directory: '/pods/1/data' },
  { path: '/etc/app', directory: '/pods/1/app' },
  { path: '/etc/app/tls', directory: '/pods/1/tls' },
]);

describe('a mount path is found', () => {
  test.each([
    ['/data', '/pods/1/data'],
    ['/data/', '/pods/1/data/'],
    ['/data/a/b.txt', '/pods/1/data/a/b.txt'],
    ['/etc/app/tls/key', '/pods/1/tls/key'],
    ['/etc/app/tlsx', '/pods/1/app/tlsx'],
    ['--dir=/data', '--dir=/pods/1/data'],
    ['/data:/etc/app,/data', '/pods/1/data:/pods/1/app,/pods/1/data'],
    [
      `cat '/data/a' "/data" > /data/b; ls /data`,
      `cat '/pods/1/data/a' "/pods/1/data" > /pods/1/data/b; ls /pods/1/data`,
    ],
    ['{"path":"/data/x"}', '{"path":"/pods/1/data/x"}'],
    ['file:///data/x', 'file:///pods/1/data/x'],
    ['$(cat /data)', '$(cat /pods/1/data)'],
    ['>/data', '>/pods/1/data'],
  ])('%s', (text, expected) => {
    expect(moved(text)).toBe(expected);
  });
});

describe('what only looks like one stays', () => {
  test.each([
    '/database',
    '/data-old/x',
    '/data.bak',
    '/srv/data',
    '/srv//data',
    './data',
    '../data',
    '~/data',
    '$HOME/data',
    '${HOME}/data',
    '$(pwd)/data',
    'http://host/data',
    'https://etc/app',
    '/etc/application',
    '/etc',
    'data',
  ])('%s', (text) => {
    expect(moved(text)).toBe(text);
  });
});

test('what was replaced is not replaced again', () => {
  const again = relocation([
    { path: '/a', directory: '/x/b' },
    { path: '/x', directory: '/y' },
    { path: '/b', directory: '/a' },
  ]);
  expect(again('/a /b /x')).toBe('/x/b /a /y');
});

test('without mounts nothing changes', () => {
  expect(relocation([])('/data $& /')).toBe('/data $& /');
});

test('a path is taken as it is, whatever signs it holds', () => {
  const odd = relocation([{ path: '/a.b+(c)$&', directory: '/x$&' }]);
  expect(odd('/a.b+(c)$& /aXb')).toBe('/x$& /aXb');
});
