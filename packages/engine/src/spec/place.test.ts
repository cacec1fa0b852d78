import { expect, test } from 'vitest';
import { childOf, entryOf, ROOT } from './place.ts';

test('a place is named as people read it and as a JSON pointer', () => {
  const place = childOf(entryOf(childOf(ROOT, 'transformations'), 0), 'router');
  expect(place).toEqual({ field: 'spec.transformations[0].router', pointer: '/transformations/0/router' });
});

test('names that would be read as several are told apart', () => {
  expect(childOf(ROOT, 'a.b')).toEqual({ field: 'spec[a.b]', pointer: '/a.b' });
  expect(entryOf(ROOT, 'a/b~c')).toEqual({ field: 'spec[a/b~c]', pointer: '/a~1b~0c' });
});
