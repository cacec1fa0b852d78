/** A product for tests: a Page has a text in a ConfigMap, a password in a Secret, and a server that is restarted for both. */
import { createHash } from 'node:crypto';
import {
  ConfigMap,
  controller,
  Deployment,
  defineKind,
  judge,
  type Plan,
  type ResourceOf,
  type Rule,
  register,
  Secret,
  type StatusOf,
  statusOf,
  validatingSpecs,
  type World,
} from '@polder/kube';
import { Type } from 'typebox';
import type { BuiltInProduct } from '../src/products.ts';

export const Page = defineKind({
  group: 'test.polder.dev',
  version: 'v1',
  kind: 'Page',
  plural: 'pages',
  spec: Type.Object({
    text: Type.String({ maxLength: 100 }),
    configMap: Type.String({ maxLength: 63 }),
    password: Type.Optional(Type.String({ maxLength: 100 })),
    replicas: Type.Optional(Type.Integer({ minimum: 0 })),
  }),
  status: statusOf({ text: Type.Optional(Type.String({ maxLength: 100 })) }),
});
export type Page = ResourceOf<typeof Page>;

interface Observed {
  readonly configMaps: readonly ConfigMap[];
}

type PageStep = { readonly do: 'remove-config-map'; readonly because: string; readonly configMap: ConfigMap };

const rules: readonly Rule<PageStep, Observed>[] = [
  {
    name: 'keep-what-is-in-use',
    forbids: ({ configMap }) =>
      configMap.metadata.labels?.['in-use'] === 'true' ? `${configMap.metadata.name} is in use` : undefined,
  },
];

function plan({ metadata, spec }: Page, observed: Observed): Plan<PageStep, StatusOf<Page>> {
  const { text, configMap, password = '', replicas = 1 } = spec;
  const namespace = metadata.namespace ?? 'default';
  const name = `page-${metadata.name}`;
  const labels = { app: name };
  const hash = createHash('sha256')
    .update(JSON.stringify([text, password]))
    .digest('hex')
    .slice(0, 8);
  const outdated = observed.configMaps.filter((one) => one.metadata.name !== configMap);
  const because = `the text is in ${configMap} now`;
  const page: ConfigMap = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: configMap, namespace },
    data: { 'page.json': JSON.stringify({ text, length: text.length }) },
  };
  const secret: Secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace },
    data: { password: Buffer.from(password).toString('base64') },
  };
  const server: Deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels, annotations: { hash } },
        spec: { containers: [{ name: 'server', image: 'nginx' }] },
      },
    },
  };
  return {
    objects: [page, secret, server],
    ...judge(
      outdated.map((one): PageStep => ({ do: 'remove-config-map', because, configMap: one })),
      rules,
      observed,
    ),
    status: { text },
  };
}

const pagesController = controller({
  kind: Page,
  owns: [ConfigMap, Secret, Deployment],
  observe: async (page: Page, { cluster }: World) => ({ configMaps: await cluster.owned(ConfigMap, page) }),
  plan,
  steps: { 'remove-config-map': ({ configMap }: PageStep, { cluster }: World) => cluster.delete(ConfigMap, configMap) },
});

export const pages: BuiltInProduct = {
  name: 'pages',
  kinds: [Page],
  fieldManager: 'pages',
  lease: 'pages.test.polder.dev',
  intervals: {},
  controllers: () => [register(pagesController)],
  webhooks: () => [
    {
      name: 'vpage.test.polder.dev',
      path: '/validate-pages',
      kind: Page,
      webhook: validatingSpecs(Page, ({ spec }) => ({
        objection: spec.text === '' ? 'spec.text: Required value: text is required' : undefined,
        warnings: spec.password === undefined ? ['spec.password: is not set'] : [],
      })),
    },
  ],
  meters: { labelSelector: 'app=page-processor', port: 9090, prefix: 'pages_' },
};
