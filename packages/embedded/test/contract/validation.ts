import {
  claim,
  claims,
  configMap,
  configMaps,
  deployment,
  deployments,
  job,
  jobs,
  pod,
  pods,
  service,
  services,
  statefulSet,
  statefulSets,
} from './objects.ts';
import { expect, topic } from './suite.ts';
import type { Answer } from './wire.ts';

/** The fields an answer complains about, with the reason. */
function complaints(answer: Answer): string[] {
  expect(answer.status).toBe(422);
  expect(answer.body.reason).toBe('Invalid');
  return answer.body.details.causes.map(({ field, reason }) => `${field} ${reason}`);
}

const NO_QUANTITY = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

const controllerOf = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', name, uid: name, controller: true });

export const validation = topic('validation', (promise) => {
  promise('tells everything that is wrong at once', async ({ wire, namespace }) => {
    const answer = await wire.create(
      pods(await namespace()),
      pod('a', { containers: [{ name: 'Bad_Name', image: '' }], restartPolicy: 'Sometimes' }),
    );
    expect(complaints(answer)).toEqual([
      'spec.containers[0].name FieldValueInvalid',
      'spec.containers[0].image FieldValueRequired',
      'spec.restartPolicy FieldValueNotSupported',
    ]);
    expect(answer.body.message).toMatch(
      /^Pod "a" is invalid: \[spec\.containers\[0\]\.name: Invalid value: "Bad_Name": /,
    );
  });

  promise('quotes the values that are supported', async ({ wire, namespace }) => {
    const answer = await wire.create(pods(await namespace()), pod('a', { restartPolicy: 'Sometimes' }));
    expect(answer.body.details.causes).toEqual([
      {
        reason: 'FieldValueNotSupported',
        message: 'Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"',
        field: 'spec.restartPolicy',
      },
    ]);
  });

  promise('refuses two containers of one name', async ({ wire, namespace }) => {
    const twice = { name: 'main', image: 'example.com/a:1' };
    const answer = await wire.create(pods(await namespace()), pod('a', { containers: [twice, twice] }));
    expect(complaints(answer)).toEqual(['spec.containers[1].name FieldValueDuplicate']);
  });

  promise('refuses a mount of a volume that is not there', async ({ wire, namespace }) => {
    const containers = [{ name: 'main', image: 'a:1', volumeMounts: [{ name: 'missing', mountPath: '/x' }] }];
    const answer = await wire.create(pods(await namespace()), pod('a', { containers }));
    expect(complaints(answer)).toEqual(['spec.containers[0].volumeMounts[0].name FieldValueNotFound']);
  });

  promise('refuses a Deployment whose selector does not match its template', async ({ wire, namespace }) => {
    const answer = await wire.create(
      deployments(await namespace()),
      deployment('a', { selector: { matchLabels: { app: 'other' } } }),
    );
    expect(complaints(answer)).toEqual(['spec.template.metadata.labels FieldValueInvalid']);
    expect(answer.body.message).toContain('`selector` does not match template `labels`');
    expect(answer.body.details).toMatchObject({ name: 'a', group: 'apps', kind: 'Deployment' });
  });

  promise('refuses a Deployment without selector or template', async ({ wire, namespace }) => {
    const answer = await wire.create(deployments(await namespace()), { metadata: { name: 'a' }, spec: {} });
    expect(complaints(answer)).toContain('spec.selector FieldValueRequired');
  });

  promise('refuses negative replicas', async ({ wire, namespace }) => {
    const answer = await wire.create(deployments(await namespace()), deployment('a', { replicas: -1 }));
    expect(complaints(answer)).toEqual(['spec.replicas FieldValueInvalid']);
    expect(answer.body.details.causes[0]?.message).toBe('Invalid value: -1: must be greater than or equal to 0');
  });

  promise('keeps the selector of a Deployment for ever', async ({ wire, namespace }) => {
    const path = deployments(await namespace());
    const made = deployment('a');
    await wire.must(wire.create(path, made));
    const labels = { app: 'other' };
    const answer = await wire.replace(
      `${path}/a`,
      deployment('a', { selector: { matchLabels: labels }, template: { ...made.spec.template, metadata: { labels } } }),
    );
    expect(complaints(answer)).toEqual(['spec.selector FieldValueInvalid']);
    expect(answer.body.details.causes[0]?.message).toMatch(/field is immutable$/);
  });

  promise('lets only a few fields of a StatefulSet change', async ({ wire, namespace }) => {
    const path = statefulSets(await namespace());
    await wire.must(wire.create(path, statefulSet('a')));
    const answer = await wire.patch('merge', `${path}/a`, { spec: { serviceName: 'other' } });
    expect(complaints(answer)).toEqual(['spec FieldValueForbidden']);
    expect(answer.body.details.causes[0]?.message).toMatch(
      /^Forbidden: updates to statefulset spec for fields other than 'replicas', /,
    );
    await wire.must(
      wire.patch('merge', `${path}/a`, {
        spec: { replicas: 3, updateStrategy: { type: 'OnDelete', rollingUpdate: null } },
      }),
    );
  });

  promise('keeps the address of a Service', async ({ wire, namespace }) => {
    const path = services(await namespace());
    await wire.must(wire.create(path, service('a')));
    const answer = await wire.patch('merge', `${path}/a`, { spec: { clusterIP: '10.96.200.200' } });
    expect(complaints(answer)).toContain('spec.clusterIPs[0] FieldValueInvalid');
  });

  promise('takes an update of a Service that leaves the address out', async ({ wire, namespace }) => {
    const path = services(await namespace());
    const made = await wire.must(wire.create(path, service('a')));
    const body = await wire.must(wire.replace(`${path}/a`, service('a', { ports: [{ port: 81 }] })));
    expect(body.spec['clusterIP']).toBe(made.spec['clusterIP']);
  });

  promise('asks for names when a Service has several ports', async ({ wire, namespace }) => {
    const answer = await wire.create(
      services(await namespace()),
      service('a', { ports: [{ port: 80 }, { port: 81 }] }),
    );
    expect(complaints(answer)).toEqual([
      'spec.ports[0].name FieldValueRequired',
      'spec.ports[1].name FieldValueRequired',
    ]);
  });

  promise('lets only image, deadline and tolerations of a Pod change', async ({ wire, namespace }) => {
    const path = pods(await namespace());
    await wire.must(wire.create(path, pod('a')));
    await wire.must(
      wire.patch('strategic', `${path}/a`, { spec: { containers: [{ name: 'main', image: 'example.com/main:2' }] } }),
    );
    const answer = await wire.patch('merge', `${path}/a`, { spec: { hostname: 'other' } });
    expect(complaints(answer)).toEqual(['spec FieldValueForbidden']);
    expect(answer.body.details.causes[0]?.message).toMatch(/^Forbidden: pod updates may not change fields other than /);
  });

  promise('keeps the template of a Job for ever', async ({ wire, namespace }) => {
    const path = jobs(await namespace());
    await wire.must(wire.create(path, job('a')));
    const answer = await wire.patch('merge', `${path}/a`, {
      spec: { template: { spec: { containers: [{ name: 'main', image: 'example.com/other:1' }] } } },
    });
    expect(complaints(answer)).toEqual(['spec.template FieldValueInvalid']);
  });

  promise('wants Never or OnFailure from the pods of a Job', async ({ wire, namespace }) => {
    const answer = await wire.create(
      jobs(await namespace()),
      job('a', { template: { spec: { containers: [{ name: 'main', image: 'a:1' }] } } }),
    );
    expect(complaints(answer)).toEqual(['spec.template.spec.restartPolicy FieldValueRequired']);
  });

  promise('refuses a schedule that is none', async ({ wire, namespace }) => {
    const answer = await wire.create(`/apis/batch/v1/namespaces/${await namespace()}/cronjobs`, {
      metadata: { name: 'a' },
      spec: { schedule: 'sometimes', jobTemplate: { spec: job('a').spec } },
    });
    expect(complaints(answer)).toEqual(['spec.schedule FieldValueInvalid']);
  });

  promise('keeps a PersistentVolumeClaim as it was asked for', async ({ wire, namespace }) => {
    const path = claims(await namespace());
    await wire.must(wire.create(path, claim('a')));
    const answer = await wire.patch('merge', `${path}/a`, { spec: { accessModes: ['ReadWriteMany'] } });
    expect(complaints(answer)).toEqual(['spec FieldValueForbidden']);
    expect(answer.body.details.causes[0]?.message).toMatch(/^Forbidden: spec is immutable after creation except /);
  });

  promise('wants an access mode and a size from a claim', async ({ wire, namespace }) => {
    const answer = await wire.create(claims(await namespace()), { metadata: { name: 'a' }, spec: {} });
    expect(complaints(answer)).toEqual([
      'spec.accessModes FieldValueRequired',
      'spec.resources[storage] FieldValueRequired',
    ]);
  });

  promise('refuses a quantity that is none', async ({ wire, namespace }) => {
    const answer = await wire.create(
      claims(await namespace()),
      claim('a', { resources: { requests: { storage: 'much' } } }),
    );
    expect(answer.status).toBe(400);
    expect(answer.body.message).toBe(
      `PersistentVolumeClaim in version "v1" cannot be handled as a PersistentVolumeClaim: ${NO_QUANTITY}`,
    );
  });

  promise('refuses a quantity that is none in an apply', async ({ wire, namespace }) => {
    const applied = claim('a', { resources: { requests: { storage: 'much' } } });
    const answer = await wire.apply(`${claims(await namespace())}/a`, applied);
    expect(answer.status).toBe(500);
    expect(answer.body.message).toContain(`to /v1, Kind=PersistentVolumeClaim: ${NO_QUANTITY}`);
  });

  promise('refuses a quantity that is none in a patch', async ({ wire, namespace }) => {
    const path = claims(await namespace());
    await wire.must(wire.create(path, claim('a')));
    const answer = await wire.patch('merge', `${path}/a`, { spec: { resources: { requests: { storage: '' } } } });
    expect(answer.status).toBe(422);
    expect(answer.body.message).toContain(NO_QUANTITY);
  });

  promise('writes quantities in their shortest form', async ({ wire, namespace }) => {
    const made = await wire.must(
      wire.create(claims(await namespace()), claim('a', { resources: { requests: { storage: '1024Mi' } } })),
    );
    expect(made.spec['resources']).toEqual({ requests: { storage: '1Gi' } });
  });

  promise('refuses labels that are none', async ({ wire, namespace }) => {
    const answer = await wire.create(
      configMaps(await namespace()),
      configMap('a', undefined, { labels: { ok: 'not ok' } }),
    );
    expect(complaints(answer)).toEqual(['metadata.labels FieldValueInvalid']);
  });

  promise('refuses a finalizer without a domain', async ({ wire, namespace }) => {
    const answer = await wire.create(
      configMaps(await namespace()),
      configMap('a', undefined, { finalizers: ['hold'] }),
    );
    expect(complaints(answer)).toContain('metadata.finalizers[0] FieldValueInvalid');
  });

  promise('refuses two controllers of one object', async ({ wire, namespace }) => {
    const answer = await wire.create(
      configMaps(await namespace()),
      configMap('a', undefined, { ownerReferences: [controllerOf('one'), controllerOf('two')] }),
    );
    expect(complaints(answer)).toEqual(['metadata.ownerReferences FieldValueInvalid']);
  });

  promise('refuses a key that a ConfigMap cannot hold', async ({ wire, namespace }) => {
    const answer = await wire.create(configMaps(await namespace()), configMap('a', { 'not a key': 'v' }));
    expect(complaints(answer)).toEqual(['data[not a key] FieldValueInvalid']);
  });

  promise('keeps the type of a Secret', async ({ wire, namespace }) => {
    const path = `/api/v1/namespaces/${await namespace()}/secrets`;
    await wire.must(wire.create(path, { metadata: { name: 'a' } }));
    const answer = await wire.replace(`${path}/a`, { metadata: { name: 'a' }, type: 'example.com/other' });
    expect(complaints(answer)).toEqual(['type FieldValueInvalid']);
  });

  promise('keeps the uid that an object has', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    await wire.must(wire.create(path, configMap('a')));
    const answer = await wire.patch('merge', `${path}/a`, { metadata: { uid: 'other' } });
    expect(complaints(answer)).toContain('metadata.uid FieldValueInvalid');
  });

  promise('refuses a rolling update beside Recreate', async ({ wire, namespace }) => {
    const strategy = { type: 'Recreate', rollingUpdate: { maxSurge: 1 } };
    const answer = await wire.create(deployments(await namespace()), deployment('a', { strategy }));
    expect(complaints(answer)).toEqual(['spec.strategy.rollingUpdate FieldValueForbidden']);
  });

  promise('refuses a Secret whose data is no base64', async ({ wire, namespace }) => {
    const path = `/api/v1/namespaces/${await namespace()}/secrets`;
    const answer = await wire.create(path, { metadata: { name: 'a' }, data: { k: 'not base64!' } });
    expect(answer.status).toBe(400);
    expect(answer.body.message).toContain('illegal base64 data');
  });

  promise('gives a Service a node port when it becomes one, and takes it back', async ({ wire, namespace }) => {
    const path = services(await namespace());
    await wire.must(wire.create(path, service('a')));
    const open = await wire.must(wire.patch('merge', `${path}/a`, { spec: { type: 'NodePort' } }));
    expect(open.spec['ports']).toMatchObject([{ nodePort: expect.any(Number) }]);
    const closed = await wire.must(wire.patch('merge', `${path}/a`, { spec: { type: 'ClusterIP' } }));
    expect(closed.spec['ports']).toEqual([{ port: 80, protocol: 'TCP', targetPort: 80 }]);
  });

  promise('gives an ExternalName no address', async ({ wire, namespace }) => {
    const body = { metadata: { name: 'a' }, spec: { type: 'ExternalName', externalName: 'db.example.com' } };
    const made = await wire.must(wire.create(services(await namespace()), body));
    expect(made.spec).not.toHaveProperty('clusterIP');
    expect(made.spec).toMatchObject({ type: 'ExternalName', externalName: 'db.example.com' });
  });
});
