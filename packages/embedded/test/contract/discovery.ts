import { expect, topic } from './suite.ts';
import { eventually } from './world.ts';

const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

interface ResourceList {
  readonly resources: readonly { readonly name: string }[];
}

interface OpenApiIndex {
  readonly paths: Readonly<Record<string, { readonly serverRelativeURL: string }>>;
}

interface OpenApi {
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
}

export const discovery = topic('discovery', (promise) => {
  promise('tells the versions of the core group', async ({ wire }) => {
    expect((await wire.get('/api')).body).toMatchObject({ kind: 'APIVersions', versions: ['v1'] });
  });

  promise('tells the groups, with the preferred version of each', async ({ wire }) => {
    const { body } = await wire.get('/apis');
    expect(body).toMatchObject({ kind: 'APIGroupList', apiVersion: 'v1' });
    const { groups }: { groups: { name: string }[] } = JSON.parse(JSON.stringify(body));
    expect(groups).toContainEqual({
      name: 'apps',
      versions: [{ groupVersion: 'apps/v1', version: 'v1' }],
      preferredVersion: { groupVersion: 'apps/v1', version: 'v1' },
    });
  });

  for (const group of [
    'apps',
    'batch',
    'coordination.k8s.io',
    'events.k8s.io',
    'policy',
    'rbac.authorization.k8s.io',
    'networking.k8s.io',
    'discovery.k8s.io',
    'storage.k8s.io',
    'admissionregistration.k8s.io',
    'apiextensions.k8s.io',
    'authorization.k8s.io',
  ]) {
    promise(`serves ${group}/v1`, async ({ wire }) => {
      expect((await wire.get(`/apis/${group}`)).body).toMatchObject({
        kind: 'APIGroup',
        apiVersion: 'v1',
        name: group,
        preferredVersion: { groupVersion: `${group}/v1`, version: 'v1' },
      });
      expect((await wire.get(`/apis/${group}/v1`)).body).toMatchObject({
        kind: 'APIResourceList',
        groupVersion: `${group}/v1`,
      });
    });
  }

  promise('tells the resources of a version: names, scope, verbs, subresources', async ({ wire }) => {
    const { body, text } = await wire.get('/apis/apps/v1');
    expect(body).toMatchObject({ kind: 'APIResourceList', apiVersion: 'v1', groupVersion: 'apps/v1' });
    const { resources }: ResourceList = JSON.parse(text);
    expect(resources.find(({ name }) => name === 'deployments')).toMatchObject({
      name: 'deployments',
      singularName: 'deployment',
      namespaced: true,
      kind: 'Deployment',
      verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
      shortNames: ['deploy'],
      categories: ['all'],
    });
    expect(resources.find(({ name }) => name === 'deployments/status')).toEqual({
      name: 'deployments/status',
      singularName: '',
      namespaced: true,
      kind: 'Deployment',
      verbs: ['get', 'patch', 'update'],
    });
    expect(resources.find(({ name }) => name === 'deployments/scale')).toEqual({
      name: 'deployments/scale',
      singularName: '',
      namespaced: true,
      group: 'autoscaling',
      version: 'v1',
      kind: 'Scale',
      verbs: ['get', 'patch', 'update'],
    });
  });

  for (const [resource, shortNames] of [
    ['configmaps', ['cm']],
    ['namespaces', ['ns']],
    ['persistentvolumeclaims', ['pvc']],
    ['pods', ['po']],
    ['services', ['svc']],
    ['serviceaccounts', ['sa']],
    ['events', ['ev']],
    ['nodes', ['no']],
  ] as const) {
    promise(`knows ${resource} as ${shortNames.join()}`, async ({ wire }) => {
      const { resources }: ResourceList = JSON.parse((await wire.get('/api/v1')).text);
      expect(resources.find(({ name }) => name === resource)).toMatchObject({ shortNames });
    });
  }

  promise('tells everything at once when asked for the aggregated form', async ({ wire }) => {
    const answer = await wire.get('/apis', { accept: AGGREGATED });
    expect(answer.headers['content-type']).toBe(AGGREGATED);
    expect(answer.body).toMatchObject({ kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2' });
    const apps = answer.body.items.find(({ metadata }) => metadata.name === 'apps');
    expect(apps).toMatchObject({
      versions: [
        {
          version: 'v1',
          freshness: 'Current',
          resources: expect.arrayContaining([
            expect.objectContaining({
              resource: 'deployments',
              responseKind: { group: '', version: '', kind: 'Deployment' },
              scope: 'Namespaced',
              singularResource: 'deployment',
              shortNames: ['deploy'],
              subresources: expect.arrayContaining([expect.objectContaining({ subresource: 'status' })]),
            }),
          ]),
        },
      ],
    });
  });

  promise('tells the core group in the aggregated form under /api', async ({ wire }) => {
    const { body } = await wire.get('/api', { accept: `${AGGREGATED},application/json` });
    expect(body).toMatchObject({ kind: 'APIGroupDiscoveryList', items: [{ versions: [{ version: 'v1' }] }] });
  });

  promise('falls back to the old form for those who do not know the new', async ({ wire }) => {
    const unknown = AGGREGATED.replace('v=v2', 'v=v9');
    expect((await wire.get('/apis', { accept: `${unknown},application/json` })).body.kind).toBe('APIGroupList');
  });

  promise('shows custom resources in both forms', async ({ wire, customResource }) => {
    const { group } = await customResource({
      names: { shortNames: ['wd'], categories: ['toys'] },
      subresources: { status: {} },
    });
    await eventually('the group is in the aggregated form', async () =>
      (await wire.get('/apis', { accept: AGGREGATED })).text.includes(group),
    );
    await eventually('the group is in the old form', async () => (await wire.get('/apis')).text.includes(group));
    const { resources }: ResourceList = JSON.parse((await wire.get(`/apis/${group}/v1`)).text);
    expect(resources.map(({ name }) => name).toSorted()).toEqual(['widgets', 'widgets/status']);
    expect(resources.find(({ name }) => name === 'widgets')).toMatchObject({
      singularName: 'widget',
      namespaced: true,
      kind: 'Widget',
      verbs: ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'],
      shortNames: ['wd'],
      categories: ['toys'],
    });
  });

  promise('prefers the stable version of a custom resource over its betas', async ({ wire, customResource }) => {
    const { group } = await customResource({ versions: [{ name: 'v1beta1' }, { name: 'v1' }, { name: 'v2alpha1' }] });
    await eventually('the group is known', async () => (await wire.get(`/apis/${group}`)).status === 200);
    const { text } = await wire.get(`/apis/${group}`);
    const parsed: { versions: { version: string }[]; preferredVersion: { version: string } } = JSON.parse(text);
    expect(parsed.versions.map(({ version }) => version)).toEqual(['v1', 'v1beta1', 'v2alpha1']);
    expect(parsed.preferredVersion.version).toBe('v1');
  });

  promise('tells its version', async ({ wire }) => {
    expect((await wire.get('/version')).body).toMatchObject({
      major: '1',
      minor: expect.stringMatching(/^\d+/),
      gitVersion: expect.stringMatching(/^v1\.\d+\.\d+/),
      platform: expect.any(String),
    });
  });

  for (const path of ['/healthz', '/livez', '/readyz']) {
    promise(`says ok at ${path}`, async ({ wire }) => {
      const answer = await wire.get(path, { accept: '*/*' });
      expect(answer.status).toBe(200);
      expect(answer.text).toBe('ok');
    });
  }

  promise('lists its paths at /', async ({ wire }) => {
    const { paths }: { paths: string[] } = JSON.parse((await wire.get('/')).text);
    expect(paths).toEqual(
      expect.arrayContaining(['/api', '/api/v1', '/apis', '/apis/apps/v1', '/version', '/openapi/v3']),
    );
  });

  promise('has an index of OpenAPI v3 documents, by group and version', async ({ wire }) => {
    const { paths }: OpenApiIndex = JSON.parse((await wire.get('/openapi/v3')).text);
    expect(Object.keys(paths)).toEqual(
      expect.arrayContaining(['api/v1', 'apis/apps/v1', 'apis/apiextensions.k8s.io/v1']),
    );
    expect(paths['apis/apps/v1']?.serverRelativeURL).toMatch(/^\/openapi\/v3\/apis\/apps\/v1\?hash=[0-9A-F]+$/);
  });

  promise('has an OpenAPI v3 document of each group, with the kinds named', async ({ wire }) => {
    const { components }: OpenApi = JSON.parse((await wire.get('/openapi/v3/apis/apps/v1')).text);
    expect(components.schemas['io.k8s.api.apps.v1.Deployment']).toMatchObject({
      description: expect.any(String),
      type: 'object',
      'x-kubernetes-group-version-kind': [{ group: 'apps', kind: 'Deployment', version: 'v1' }],
    });
  });

  promise('has an OpenAPI v3 document of a custom resource', async ({ wire, customResource }) => {
    const { group } = await customResource({
      spec: { type: 'object', properties: { size: { type: 'integer', description: 'How big it is.' } } },
    });
    const path = `/openapi/v3/apis/${group}/v1`;
    await eventually('the document is there', async () => (await wire.get(path)).status === 200);
    const { components }: OpenApi = JSON.parse((await wire.get(path)).text);
    const name = `${group.split('.').toReversed().join('.')}.v1.Widget`;
    expect(components.schemas[name]).toMatchObject({
      type: 'object',
      properties: { spec: { properties: { size: { type: 'integer', description: 'How big it is.' } } } },
      'x-kubernetes-group-version-kind': [{ group, kind: 'Widget', version: 'v1' }],
    });
  });
});
