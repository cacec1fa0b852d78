import { expect, test } from 'vitest';
import type { WireObject } from '../served-kind.ts';
import { toCoreEvent, toEventsEvent } from './event.ts';

const core: WireObject = {
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name: 'e', namespace: 'n', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
  involvedObject: { kind: 'Pod', name: 'x', namespace: 'n' },
  reason: 'Started',
  message: 'hi',
  source: { component: 'kubelet' },
  firstTimestamp: '2026-01-01T00:00:00Z',
  lastTimestamp: '2026-01-01T00:00:00Z',
  count: 3,
  eventTime: null,
  reportingComponent: 'kubelet',
  reportingInstance: 'h',
  type: 'Normal',
};

test('an event written to one group is read from the other', () => {
  expect(toEventsEvent(core)).toEqual({
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: core.metadata,
    regarding: { kind: 'Pod', name: 'x', namespace: 'n' },
    reason: 'Started',
    note: 'hi',
    deprecatedSource: { component: 'kubelet' },
    deprecatedFirstTimestamp: '2026-01-01T00:00:00Z',
    deprecatedLastTimestamp: '2026-01-01T00:00:00Z',
    deprecatedCount: 3,
    eventTime: null,
    reportingController: 'kubelet',
    reportingInstance: 'h',
    type: 'Normal',
  });
  expect(toCoreEvent(toEventsEvent(core))).toEqual(core);
});

test('an event in the wanted form stays as it is', () => {
  expect(toCoreEvent(core)).toEqual(core);
  expect(toEventsEvent(toEventsEvent(core))).toEqual(toEventsEvent(core));
});
