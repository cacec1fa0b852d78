import { expect, test } from 'vitest';
import { LastApplied } from './applied.ts';

const metadata = { name: 'a', namespace: 'ns' };
const desired = (cpu: string) => ({ apiVersion: 'v1', kind: 'Thing', metadata, spec: { cpu, list: [{ name: 'x' }] } });
const stored = (version: string, spec: object) => ({
  apiVersion: 'v1',
  kind: 'Thing',
  metadata: { ...metadata, uid: 'u', resourceVersion: version },
  spec,
});
const answer = stored('1', { cpu: '1', list: [{ name: 'x', protocol: 'TCP' }], replicas: 1 });

test('nothing is in place before it was applied', () => {
  expect(new LastApplied().isInPlace(desired('1000m'), answer)).toBe(false);
});

test.each<[string, object, boolean]>([
  ['nothing changed', stored('1', answer.spec), true],
  ['somebody else wrote a field that is not ours', stored('2', { ...answer.spec, replicas: 7 }), true],
  ['one of our fields was changed', stored('2', { ...answer.spec, cpu: '2' }), false],
  ['one of our fields was removed', stored('2', { list: [{ name: 'x', protocol: 'TCP' }] }), false],
  ['a list of ours was changed', stored('2', { ...answer.spec, list: [] }), false],
])('when %s, applying again is %s needed', (_, live, isInPlace) => {
  const applied = new LastApplied();
  applied.remember(desired('1000m'), answer);
  expect(applied.isInPlace(desired('1000m'), { ...answer, ...live })).toBe(isInPlace);
});

test('a new wish is applied even if the object is as the old one left it', () => {
  const applied = new LastApplied();
  applied.remember(desired('1000m'), answer);
  expect(applied.isInPlace(desired('2'), answer)).toBe(false);
});
