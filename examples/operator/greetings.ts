/**
 * A whole operator on one screen. A Greeting keeps a ConfigMap with a text; when it is told to use another ConfigMap, the old
 * one is removed, but not while somebody has marked it as in use.
 */
import {
  ConfigMap,
  controller,
  defineKind,
  judge,
  type Plan,
  type ResourceOf,
  type Rule,
  type StatusOf,
  statusOf,
  type World,
} from '@polder/kube';
import { Type } from 'typebox';

export const Greeting = defineKind({
  group: 'example.polder.dev',
  version: 'v1',
  kind: 'Greeting',
  plural: 'greetings',
  spec: Type.Object({
    name: Type.String({ minLength: 1, maxLength: 60, description: 'Who is greeted.' }),
    configMap: Type.String({ minLength: 1, maxLength: 63, description: 'Where the text goes.' }),
  }),
  status: statusOf({ text: Type.Optional(Type.String({ maxLength: 100 })) }),
  columns: [{ name: 'Text', type: 'string', jsonPath: '.status.text' }],
});
export type Greeting = ResourceOf<typeof Greeting>;

/** 1. What is. */
interface Observed {
  readonly configMaps: readonly ConfigMap[];
}

async function observe(greeting: Greeting, { cluster }: World): Promise<Observed> {
  return { configMaps: await cluster.owned(ConfigMap, greeting) };
}

/** 2. What should be done about it. */
type GreetingStep = { readonly do: 'remove-config-map'; readonly because: string; readonly configMap: ConfigMap };

export const rules: readonly Rule<GreetingStep, Observed>[] = [
  {
    name: 'keep-what-is-in-use',
    forbids: ({ configMap }) =>
      configMap.metadata.labels?.['in-use'] === 'true'
        ? `${configMap.metadata.name} is labelled in-use=true`
        : undefined,
  },
];

export function plan({ metadata, spec }: Greeting, observed: Observed): Plan<GreetingStep, StatusOf<Greeting>> {
  const text = `Hello, ${spec.name}!`;
  const current: ConfigMap = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: spec.configMap, namespace: metadata.namespace ?? 'default' },
    data: { text },
  };
  const because = `the greeting is in ${spec.configMap} now`;
  const outdated = observed.configMaps.filter((one) => one.metadata.name !== spec.configMap);
  const removals = outdated.map((configMap): GreetingStep => ({ do: 'remove-config-map', because, configMap }));
  return { objects: [current], ...judge(removals, rules, observed), status: { text } };
}

/** 3. How it is done. */
export const greetings = controller({
  kind: Greeting,
  owns: [ConfigMap],
  observe,
  plan,
  steps: {
    'remove-config-map': ({ configMap }: GreetingStep, { cluster }: World) => cluster.delete(ConfigMap, configMap),
  },
});
