import { configMap, configMaps, deployment, deployments } from './objects.ts';
import { expect, topic } from './suite.ts';
import type { Body } from './wire.ts';

/** Who owns what, as `manager operation [subresource]` → fields. */
function owners(body: Body): Record<string, unknown> {
  return Object.fromEntries(
    body.metadata.managedFields.map(({ manager, operation, subresource, fieldsV1 }) => [
      [manager, operation, subresource].filter((part) => part !== undefined).join(' '),
      fieldsV1,
    ]),
  );
}

export const managedFields = topic('managed fields', (promise) => {
  promise('of an update: what it changed, and nothing else', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    await wire.must(wire.create(`${path}?fieldManager=one`, configMap('a', { x: '1', y: '1' })));
    const body = await wire.must(
      wire.replace(`${path}/a?fieldManager=two`, configMap('a', { x: '1', y: '2', z: '2' })),
    );
    expect(owners(body)).toEqual({
      'one Update': { 'f:data': { '.': {}, 'f:x': {} } },
      'two Update': { 'f:data': { 'f:y': {}, 'f:z': {} } },
    });
  });

  promise('forget a field that an update removes', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    await wire.must(wire.apply(`${path}/a`, configMap('a', { x: '1', y: '1' }), { manager: 'one' }));
    const body = await wire.must(wire.replace(`${path}/a?fieldManager=two`, configMap('a', { x: '1' })));
    expect(owners(body)).toEqual({ 'one Apply': { 'f:data': { 'f:x': {} } } });
  });

  promise('tell an apply and an update by one manager apart', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    await wire.must(wire.create(`${path}?fieldManager=one`, configMap('a', { x: '1' })));
    const body = await wire.must(wire.apply(`${path}/a`, configMap('a', { y: '1' }), { manager: 'one' }));
    expect(owners(body)).toEqual({
      'one Apply': { 'f:data': { 'f:y': {} } },
      'one Update': { 'f:data': { '.': {}, 'f:x': {} } },
    });
  });

  promise('of status writes stand apart under their subresource', async ({ wire, namespace }) => {
    const path = deployments(await namespace());
    await wire.must(wire.apply(`${path}/a`, deployment('a'), { manager: 'one' }));
    const body = await wire.must(
      wire.patch('merge', `${path}/a/status?fieldManager=controller`, { status: { replicas: 1 } }),
    );
    expect(Object.keys(owners(body))).toEqual(['one Apply', 'controller Update status']);
    expect(owners(body)['controller Update status']).toEqual({ 'f:status': { 'f:replicas': {} } });
  });

  promise('of a scale stand apart too, and conflict with an apply', async ({ wire, namespace }) => {
    const path = deployments(await namespace());
    await wire.must(wire.apply(`${path}/a`, deployment('a', { replicas: 1 }), { manager: 'one' }));
    await wire.must(wire.patch('merge', `${path}/a/scale?fieldManager=scaler`, { spec: { replicas: 5 } }));
    const { body } = await wire.get(`${path}/a`);
    expect(owners(body)['scaler Update scale']).toEqual({ 'f:spec': { 'f:replicas': {} } });
    const answer = await wire.apply(`${path}/a`, deployment('a', { replicas: 1 }), { manager: 'one' });
    expect(answer.status).toBe(409);
    expect(answer.body.details.causes[0]?.message).toBe(
      'conflict with "scaler" with subresource "scale" using apps/v1',
    );
    expect(answer.body.details.causes[0]?.field).toBe('.spec.replicas');
  });

  promise('name a field of a list item in a conflict by its keys', async ({ wire, namespace }) => {
    const path = deployments(await namespace());
    await wire.must(wire.apply(`${path}/a`, deployment('a'), { manager: 'one' }));
    const other = JSON.stringify(deployment('a')).replace('main:1', 'main:2');
    const answer = await wire.apply(`${path}/a`, other, { manager: 'two' });
    expect(answer.body.details.causes).toEqual([
      {
        reason: 'FieldManagerConflict',
        message: 'conflict with "one"',
        field: '.spec.template.spec.containers[name="main"].image',
      },
    ]);
  });

  promise('can be emptied; the next apply meets an owner from before all applies', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    await wire.must(wire.apply(`${path}/a`, configMap('a', { k: '1' }), { manager: 'one' }));
    const body = await wire.must(wire.patch('merge', `${path}/a`, { metadata: { managedFields: [{}] } }));
    expect(body.metadata.managedFields ?? []).toEqual([]);
    const refused = await wire.apply(`${path}/a`, configMap('a', { k: '2' }), { manager: 'two' });
    expect(refused.body.details.causes[0]?.message).toBe('conflict with "before-first-apply" using v1');
    const shared = await wire.must(wire.apply(`${path}/a`, configMap('a', { k: '1' }), { manager: 'two' }));
    expect(Object.keys(owners(shared))).toEqual(['two Apply', 'before-first-apply Update']);
  });

  promise('cannot be forged: nonsense in them is ignored', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    const made = await wire.must(wire.create(`${path}?fieldManager=one`, configMap('a', { k: '1' })));
    const forged = [{ manager: 'x', operation: 'Nonsense' }];
    const body = await wire.must(
      wire.replace(`${path}/a`, { ...made, metadata: { ...made.metadata, managedFields: forged } }),
    );
    expect(body.metadata.managedFields).toEqual(made.metadata.managedFields);
  });

  promise('keep the time of the last change', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    const first = await wire.must(wire.apply(`${path}/a`, configMap('a', { k: '1' }), { manager: 'one' }));
    const other = await wire.must(wire.apply(`${path}/a`, configMap('a', { l: '1' }), { manager: 'two' }));
    expect(other.metadata.managedFields[0]).toEqual(first.metadata.managedFields[0]);
  });

  promise('name the version they were written in', async ({ wire, namespace, customResource }) => {
    const custom = await customResource({ versions: [{ name: 'v1' }, { name: 'v1beta1' }] });
    const ns = await namespace();
    const apiVersion = `${custom.group}/v1beta1`;
    const widget = { ...custom.widget('a', { spec: { size: 1 } }), apiVersion };
    const body = await wire.must(wire.apply(`${custom.collection(ns, 'v1beta1')}/a`, widget));
    expect(body.metadata.managedFields).toMatchObject([{ apiVersion }]);
    const stored = (await wire.get(`${custom.collection(ns)}/a`)).body;
    expect(stored.metadata.managedFields).toMatchObject([{ apiVersion }]);
  });
});
