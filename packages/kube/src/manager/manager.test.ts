import { Type } from 'typebox';
import { beforeEach, describe, expect, test } from 'vitest';
import { TestCluster } from '../../test/test-cluster.ts';
import { Widget } from '../../test/widgets.ts';
import { controller } from '../controller/index.ts';
import { ConfigMap, CustomResourceDefinition, crdOf, defineKind, type Kind, resourceNameOf } from '../kinds/index.ts';
import type { Phase } from '../reflector/index.ts';
import type { ProductEvents } from './events.ts';
import { type Product, register } from './product.ts';

const Gadget = defineKind({
  group: 'test.polder.dev',
  version: 'v1',
  kind: 'Gadget',
  plural: 'gadgets',
  spec: Type.Object({}),
  status: Type.Object({}),
});

let cluster: TestCluster;
let looks: string[];
beforeEach(async () => {
  cluster = await new TestCluster().install();
  looks = [];
});

/** Notes what it looks at, and does nothing. */
function noting(name: string, kind: Kind, on?: ProductEvents): Product {
  const definition = controller({
    kind,
    owns: [ConfigMap],
    observe: async ({ metadata }) => void looks.push(`${name} ${metadata.name}`),
    plan: () => ({ objects: [], steps: [], held: [], status: {} }),
    steps: {},
    status: 'as-planned',
  });
  return { name, fieldManager: name, controllers: [register(definition)], on };
}

test('a kind that is not installed keeps its own product waiting, until it is installed, and no other', async () => {
  cluster.operator({ products: [noting('gadgets', Gadget), noting('widgets', Widget)] });
  await cluster.create('a', 'red');
  await cluster.clock.advance(60_000);
  expect(looks).toEqual(['widgets a']);
  await cluster.client.create(CustomResourceDefinition, crdOf(Gadget));
  await cluster.client.create(Gadget, { metadata: { namespace: 'default', name: 'b' }, spec: {} });
  await cluster.clock.advance(60_000);
  expect(looks).toEqual(['widgets a', 'gadgets b']);
});

describe('a product hears', () => {
  test('of its own kinds, also of those that others watch, and of its own controllers alone', async () => {
    const heard: string[] = [];
    const listener = (name: string): ProductEvents => ({
      reflecting: (kind) => ({ opened: () => void heard.push(`${name} watches ${resourceNameOf(kind)}`) }),
      running: (kind) => ({ passEnded: (result) => void heard.push(`${name} ${kind.kind} ${result}`) }),
      leading: (product) => ({ gained: () => void heard.push(`${name} leads ${product}`) }),
    });
    await cluster.client.create(CustomResourceDefinition, crdOf(Gadget));
    await cluster.create('a', 'red');
    cluster.operator({
      products: [noting('gadgets', Gadget, listener('g')), noting('widgets', Widget, listener('w'))],
    });
    await cluster.clock.advance(1_000);
    expect(heard.toSorted()).toEqual([
      'g leads gadgets',
      'g watches configmaps',
      'g watches gadgets.test.polder.dev',
      'w Widget success',
      'w leads widgets',
      'w watches configmaps',
      'w watches widgets.test.polder.dev',
    ]);
  });

  test('of each watch that ends, and of how far it had come', async () => {
    const ends: string[] = [];
    const ended = (how: string, during: Phase) => void ends.push(`${how} while ${during}`);
    const on: ProductEvents = {
      reflecting: (kind) => (kind === Widget ? { ended: (ending, during) => ended(ending.ended, during) } : {}),
    };
    const watches = { verb: 'watch', plural: 'widgets', count: 1 } as const;
    cluster.server.faults.on(watches, { do: 'fail', when: 'before' });
    cluster.operator({ products: [noting('widgets', Widget, on)] });
    await cluster.clock.advance(10_000);
    cluster.server.faults.on(watches, { do: 'reset' });
    await cluster.clock.advance(10_000);
    // Of the two, one is used up by the watch that is open, to no effect.
    cluster.server.faults.on({ ...watches, count: 2 }, { do: 'fail', when: 'before' });
    cluster.server.faults.on(watches, { do: 'close' });
    await cluster.clock.advance(10_000);
    expect(ends).toEqual(['failed while fetching', 'failed while open', 'closed while open', 'failed while opening']);
  });
});
