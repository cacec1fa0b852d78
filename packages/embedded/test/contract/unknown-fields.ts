import { configMap, configMaps, deployment, deployments } from './objects.ts';
import { expect, topic } from './suite.ts';

const SIZED = { spec: { type: 'object', properties: { size: { type: 'integer' } } } };

export const unknownFields = topic('unknown fields', (promise) => {
  promise('with Strict are refused, all of them, by path', async ({ wire, namespace }) => {
    const path = `${deployments(await namespace())}?fieldValidation=Strict`;
    const answer = await wire.create(path, { ...deployment('a', { bogus: 1 }), extra: true });
    expect(answer.status).toBe(400);
    expect(answer.body.reason).toBe('BadRequest');
    expect(answer.body.message).toBe(
      'Deployment in version "v1" cannot be handled as a Deployment: strict decoding error: unknown field "spec.bogus", unknown field "extra"',
    );
  });

  promise('with Warn are dropped with a warning', async ({ wire, namespace }) => {
    const path = `${deployments(await namespace())}?fieldValidation=Warn`;
    const answer = await wire.create(path, deployment('a', { bogus: 1 }));
    expect(answer.status).toBe(201);
    expect(answer.headers['warning']).toBe('299 - "unknown field \\"spec.bogus\\""');
    expect(answer.body.spec).not.toHaveProperty('bogus');
  });

  promise('warn unless told otherwise', async ({ wire, namespace }) => {
    const answer = await wire.create(configMaps(await namespace()), { ...configMap('a'), bogus: 1 });
    expect(answer.headers['warning']).toBe('299 - "unknown field \\"bogus\\""');
  });

  promise('with Ignore are dropped in silence', async ({ wire, namespace }) => {
    const path = `${deployments(await namespace())}?fieldValidation=Ignore`;
    const answer = await wire.create(path, deployment('a', { bogus: 1 }));
    expect(answer.status).toBe(201);
    expect(answer.headers['warning']).toBeUndefined();
  });

  promise('are checked in merge patches too', async ({ wire, namespace }) => {
    const path = deployments(await namespace());
    await wire.must(wire.create(path, deployment('a')));
    const answer = await wire.patch('merge', `${path}/a?fieldValidation=Strict`, { spec: { bogus: 1 } });
    expect(answer.status).toBe(422);
    expect(answer.body.message).toContain('unknown field "spec.bogus"');
  });

  promise('with Strict a key that is there twice is refused', async ({ wire, namespace }) => {
    const path = `${configMaps(await namespace())}?fieldValidation=Strict`;
    const answer = await wire.create(path, '{"metadata":{"name":"a"},"data":{"k":"1"},"data":{"k":"2"}}');
    expect(answer.status).toBe(400);
    expect(answer.body.message).toContain('duplicate field "data"');
  });

  promise('of a custom resource with Strict are refused', async ({ wire, namespace, customResource }) => {
    const custom = await customResource(SIZED);
    const answer = await wire.create(
      `${custom.collection(await namespace())}?fieldValidation=Strict`,
      custom.widget('a', { spec: { size: 1, bogus: 2 } }),
    );
    expect(answer.status).toBe(400);
    expect(answer.body.message).toContain('strict decoding error: unknown field "spec.bogus"');
  });

  promise('of a custom resource warn unless told otherwise', async ({ wire, namespace, customResource }) => {
    const custom = await customResource(SIZED);
    const answer = await wire.create(
      custom.collection(await namespace()),
      custom.widget('a', { spec: { size: 1, bogus: 2 } }),
    );
    expect(answer.status).toBe(201);
    expect(answer.headers['warning']).toBe('299 - "unknown field \\"spec.bogus\\""');
    expect(answer.body.spec).toEqual({ size: 1 });
  });

  promise('refuse a value of fieldValidation that does not exist', async ({ wire, namespace }) => {
    const answer = await wire.create(`${configMaps(await namespace())}?fieldValidation=Maybe`, configMap('a'));
    expect(answer.status).toBe(422);
    expect(answer.body.details.causes[0]).toMatchObject({
      field: 'fieldValidation',
      reason: 'FieldValueNotSupported',
    });
  });
});
