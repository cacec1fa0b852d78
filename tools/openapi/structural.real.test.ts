import { afterAll, expect, inject, test } from 'vitest';
import { type Api, readApi } from './api.ts';
import { ApiServer } from './api-server.ts';
import { EMBEDDED_TYPES, SERVED } from './served.ts';
import { definitionNamed, structural } from './structural.ts';

const server = await ApiServer.of(inject('kubeconfig'));
const api: Api = await readApi(server, SERVED);

afterAll(() => server.close());

test.each(EMBEDDED_TYPES)('a real API server accepts the schema of %s inside a CRD', async (type) => {
  const schema = structural(definitionNamed(type, api), api.definitions);
  const crd = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'samples.structural.polder.dev' },
    spec: {
      group: 'structural.polder.dev',
      scope: 'Namespaced',
      names: { plural: 'samples', kind: 'Sample' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties: { spec: schema } } },
        },
      ],
    },
  };
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All&fieldValidation=Strict';
  const answer = await server.send('POST', path, { 'content-type': 'application/json' }, JSON.stringify(crd));
  expect(answer).toMatchObject({ status: 201 });
});
