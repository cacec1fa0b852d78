import { seeds, stateWalk } from '@polder/embedded/simulation';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Client, ConfigMap } from '../src/index.ts';
import { areAll, type WidgetWorld, widgetWorld } from './widget-world.ts';
import { Widget } from './widgets.ts';

/** One the operator can't make, and one that the server refuses. */
const broken = fc.constantFrom('impossible', 'x'.repeat(61));
const colour = fc.constantFrom('red', 'blue', 'green');
const walk = fc.tuple(fc.array(fc.oneof(colour, broken), { minLength: 1, maxLength: 6 }), colour);

const apply = (client: Client, colour: string) =>
  client.apply(Widget, { metadata: { namespace: 'default', name: 'a' }, spec: { colour } }, { fieldManager: 'user' });

test('where a widget ends depends on its last spec alone, whatever it was told before', {
  timeout: 60_000,
}, async () => {
  for (const seed of seeds(1)) {
    await fc.assert(
      fc.asyncProperty(walk, async ([way, end]) => {
        const specs = [...way, end];
        await stateWalk<WidgetWorld, string>({
          seed,
          world: () => widgetWorld(),
          specs,
          apply,
          isConverged: areAll('a'),
          kinds: [Widget, ConfigMap],
        });
      }),
      { numRuns: 15 },
    );
  }
});

test('an end that remembers the way is found out', async () => {
  const remembered = { metadata: { namespace: 'default', name: 'memory' } };
  const walked = stateWalk<WidgetWorld, string>({
    world: () => widgetWorld(),
    specs: ['red', 'blue'],
    apply: async (client, colour) => {
      await apply(client, colour);
      await client.apply(ConfigMap, { ...remembered, data: { [colour]: 'seen' } }, { fieldManager: colour });
    },
    isConverged: areAll('a'),
    kinds: [Widget, ConfigMap],
  });
  await expect(walked).rejects.toThrow('the end depends on the way: after ["red","blue"] it is');
});
