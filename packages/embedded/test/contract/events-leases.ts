import { expect, topic } from './suite.ts';

const leases = (namespace: string) => `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
const newEvents = (namespace: string) => `/apis/events.k8s.io/v1/namespaces/${namespace}/events`;
const coreEvents = (namespace: string) => `/api/v1/namespaces/${namespace}/events`;

const event = (namespace: string, more: Readonly<Record<string, unknown>> = {}) => ({
  metadata: { name: 'a.1' },
  eventTime: '2026-01-02T03:04:05.678000Z',
  type: 'Normal',
  reason: 'Started',
  action: 'Starting',
  note: 'It started.',
  reportingController: 'example.com/contract',
  reportingInstance: 'contract-0',
  regarding: { apiVersion: 'v1', kind: 'Pod', name: 'a', namespace },
  ...more,
});

export const eventsAndLeases = topic('events and leases', (promise) => {
  promise('a lease keeps its times to the microsecond', async ({ wire, namespace }) => {
    const spec = {
      holderIdentity: 'me',
      leaseDurationSeconds: 15,
      acquireTime: '2026-01-02T03:04:05.123456Z',
      renewTime: '2026-01-02T03:04:05.000000Z',
      leaseTransitions: 0,
    };
    const made = await wire.must(wire.create(leases(await namespace()), { metadata: { name: 'a' }, spec }));
    expect(made.spec).toEqual(spec);
  });

  promise('a lease refuses a time with any but six digits', async ({ wire, namespace }) => {
    const path = leases(await namespace());
    const answer = await wire.create(path, {
      metadata: { name: 'a' },
      spec: { renewTime: '2026-01-02T03:04:05.123Z' },
    });
    expect(answer.status).toBe(400);
    expect(answer.body.message).toContain('parsing time');
  });

  promise('a lease refuses a duration that is not positive', async ({ wire, namespace }) => {
    const answer = await wire.create(leases(await namespace()), {
      metadata: { name: 'a' },
      spec: { leaseDurationSeconds: 0 },
    });
    expect(answer.status).toBe(422);
    expect(answer.body.details.causes[0]).toMatchObject({
      field: 'spec.leaseDurationSeconds',
      reason: 'FieldValueInvalid',
    });
  });

  promise('a lease can be made by a replace, and then wants a version', async ({ wire, namespace }) => {
    const path = `${leases(await namespace())}/a`;
    const body = { metadata: { name: 'a' }, spec: { holderIdentity: 'me', leaseDurationSeconds: 15 } };
    expect((await wire.replace(path, body)).status).toBe(201);
    const answer = await wire.replace(path, body);
    expect(answer.status).toBe(422);
    expect(answer.body.message).toBe(
      'leases.coordination.k8s.io "a" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
    );
  });

  promise('two who renew a lease at the same version: one wins, the other gets 409', async ({ wire, namespace }) => {
    const path = leases(await namespace());
    const made = await wire.must(
      wire.create(path, { metadata: { name: 'a' }, spec: { holderIdentity: 'none', leaseDurationSeconds: 15 } }),
    );
    const answers = await Promise.all(
      ['one', 'two'].map((holderIdentity) =>
        wire.replace(`${path}/a`, { ...made, spec: { ...made.spec, holderIdentity } }),
      ),
    );
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);
  });

  promise('an event is seen in both groups', async ({ wire, namespace }) => {
    const ns = await namespace();
    await wire.must(wire.create(newEvents(ns), event(ns)));
    expect((await wire.get(`${newEvents(ns)}/a.1`)).body).toMatchObject({
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      note: 'It started.',
      regarding: { kind: 'Pod', name: 'a' },
      reportingController: 'example.com/contract',
    });
    expect((await wire.get(`${coreEvents(ns)}/a.1`)).body).toMatchObject({
      apiVersion: 'v1',
      kind: 'Event',
      message: 'It started.',
      involvedObject: { kind: 'Pod', name: 'a' },
      reportingComponent: 'example.com/contract',
    });
  });

  promise('an event needs an action', async ({ wire, namespace }) => {
    const ns = await namespace();
    const answer = await wire.create(newEvents(ns), event(ns, { action: undefined }));
    expect(answer.status).toBe(422);
    expect(answer.body.details.causes).toContainEqual({
      reason: 'FieldValueRequired',
      message: 'Required value',
      field: 'action',
    });
  });

  promise('an event refuses a time with any but six digits', async ({ wire, namespace }) => {
    const ns = await namespace();
    const answer = await wire.create(newEvents(ns), event(ns, { eventTime: '2026-01-02T03:04:05.678Z' }));
    expect(answer.status).toBe(400);
  });

  promise('an event takes a series later on', async ({ wire, namespace }) => {
    const ns = await namespace();
    await wire.must(wire.create(newEvents(ns), event(ns)));
    const series = { count: 2, lastObservedTime: '2026-01-02T03:05:05.000000Z' };
    const body = await wire.must(wire.patch('merge', `${newEvents(ns)}/a.1`, { series }));
    expect(body).toMatchObject({ series });
  });

  promise('events of the old group are selected by the object they are about', async ({ wire, namespace }) => {
    const ns = await namespace();
    for (const name of ['a', 'b']) {
      await wire.must(
        wire.create(coreEvents(ns), {
          metadata: { name: `${name}.1` },
          involvedObject: { apiVersion: 'v1', kind: 'Pod', name, namespace: ns },
          reason: 'Started',
          message: 'It started.',
          type: 'Normal',
        }),
      );
    }
    const { body } = await wire.get(
      `${coreEvents(ns)}?fieldSelector=${encodeURIComponent('involvedObject.name=a,involvedObject.kind=Pod,reason=Started')}`,
    );
    expect(body.items.map(({ metadata }) => metadata.name)).toEqual(['a.1']);
  });
});
