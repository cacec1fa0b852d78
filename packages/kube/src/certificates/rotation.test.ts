import { describe, expect, test } from 'vitest';
import { isIssuedBy } from './pair.ts';
import { carryOut, type Held, nextStep, WEBHOOK_TERMS } from './rotation.ts';

const names = ['hook.polder.svc'];
const { validMs, renewBeforeMs } = WEBHOOK_TERMS.leaf;
const start = Date.UTC(2026, 0, 1);
const due = start + validMs - renewBeforeMs;
const end = start + validMs;

const fresh = await carryOut({ do: 'start-over' }, undefined, names, start);
/** The new authority is in the bundle, and signs nothing yet. */
const joined = await carryOut({ do: 'add-authority' }, fresh, names, due);

const step = (held: Held | undefined, now: number, { isTrusted = true, hosts = names } = {}) =>
  nextStep(held, hosts, isTrusted, now).do;

describe('the next step', () => {
  test('is to start over with nothing, or with an authority that has ended', () => {
    expect(step(undefined, start)).toBe('start-over');
    expect(step(fresh, end)).toBe('start-over');
  });

  test('is nothing for 83 days, then a new authority', () => {
    expect(step(fresh, due - 1)).toBe('nothing');
    expect(step(fresh, due)).toBe('add-authority');
  });

  test('waits with a new certificate until its authority is trusted', () => {
    expect(step(joined, due, { isTrusted: false })).toBe('nothing');
    expect(step(joined, due)).toBe('issue');
  });

  test('does not wait once the old certificate has ended: nobody takes it any more', () => {
    expect(step(joined, end, { isTrusted: false })).toBe('issue');
  });

  test('is a new certificate when a Service was added', () => {
    expect(step(fresh, start, { hosts: [...names, 'other.polder.svc'] })).toBe('issue');
    expect(step(fresh, start, { hosts: [...names, '127.0.0.1'] })).toBe('issue');
  });

  test('drops an authority when it has ended, not before', async () => {
    const issued = await carryOut({ do: 'issue' }, joined, names, due);
    expect(step(issued, end - 1)).toBe('nothing');
    expect(step(issued, end)).toBe('drop-former');
    const dropped = await carryOut({ do: 'drop-former' }, issued, names, end);
    expect(dropped.authorities).toEqual([issued.authorities[0]]);
  });
});

test('until the new certificate is issued, the old one is kept as it is', () => {
  expect(joined.serving).toEqual(fresh.serving);
  expect(joined.authorities).toEqual([joined.authorities[0], fresh.authorities[0]]);
  expect(isIssuedBy(joined.serving.certificate, joined.authorities[1] ?? '')).toBe(true);
});
