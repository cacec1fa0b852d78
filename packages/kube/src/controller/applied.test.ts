import { beforeEach, describe, expect, test } from 'vitest';
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

describe('drift is', () => {
  const wanting = (cpu: string, owner = 'o') => {
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Owner', name: 'o', uid: owner }];
    return { ...desired(cpu), metadata: { ...metadata, ownerReferences } };
  };
  const applied = (owner?: string) => wanting('1000m', owner);
  let last: LastApplied;
  beforeEach(() => {
    last = new LastApplied();
    last.remember(applied(), { ...answer, metadata: { ...applied().metadata, uid: 'u', resourceVersion: '1' } });
  });
  const live = (version: string, spec: object) => ({
    ...stored(version, spec),
    metadata: { ...applied().metadata, uid: 'u', resourceVersion: version },
  });

  test('a field of ours that somebody changed, whatever we want by now', () => {
    const changed = live('2', { ...answer.spec, cpu: '2' });
    expect(last.hasDrifted(applied(), changed)).toBe(true);
    expect(last.hasDrifted(wanting('7'), changed)).toBe(true);
    last.remember(applied(), live('3', answer.spec));
    expect(last.hasDrifted(applied(), live('4', answer.spec))).toBe(false);
  });

  test('an object of ours that somebody deleted, once', () => {
    last.forget(live('1', answer.spec));
    expect(last.hasDrifted(applied(), undefined)).toBe(true);
    last.remember(applied(), { ...live('5', answer.spec), metadata: { ...applied().metadata, uid: 'v' } });
    expect(last.hasDrifted(applied(), undefined)).toBe(false);
  });

  test.each<[string, () => boolean]>([
    ['a new wish', () => last.hasDrifted(wanting('7'), live('1', answer.spec))],
    ['a field that is not ours', () => last.hasDrifted(applied(), live('2', { ...answer.spec, replicas: 7 }))],
    ['an object that was never applied', () => last.hasDrifted(applied(), { ...answer, metadata: { name: 'other' } })],
    [
      'what a step of ours changed',
      () => {
        const scaled = live('2', { ...answer.spec, cpu: '2' });
        last.wrote(scaled);
        return last.hasDrifted(applied(), live('3', scaled.spec));
      },
    ],
    [
      'what a step of ours deleted',
      () => {
        last.deleted(live('1', answer.spec));
        last.forget(live('1', answer.spec));
        return last.hasDrifted(applied(), undefined);
      },
    ],
    [
      'the object of a new owner that has the name of one that is gone',
      () => {
        last.forget(live('1', answer.spec));
        return last.hasDrifted(applied('successor'), undefined);
      },
    ],
  ])('not %s', (_, hasDrifted) => {
    expect(hasDrifted()).toBe(false);
  });
});

test('what went with its owner does not pile up', () => {
  const last = new LastApplied();
  for (let at = 0; at < 5_000; at++) {
    const object = { ...answer, metadata: { ...metadata, name: `a${at}`, uid: `u${at}` } };
    last.remember(object, object);
    last.forget(object);
  }
  expect(last.size).toBe(0);
  const named = (at: number) => ({ ...answer, metadata: { ...metadata, name: `a${at}` } });
  expect([0, 4_999].map((at) => last.hasDrifted(named(at), undefined))).toEqual([false, true]);
});
