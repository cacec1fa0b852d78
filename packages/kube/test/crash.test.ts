import { crashAtEveryWrite, type Invariants } from '@polder/embedded/simulation';
import { expect, test } from 'vitest';
import { areAll, create, remove, repaint, type WidgetWorld, widgetWorld } from './widget-world.ts';

const invariants: Invariants<WidgetWorld> = {
  // The factory takes the same order twice without harm, once from each of the two; what must not happen is a third.
  'no part is ordered three times'(_, { factory: { orders } }) {
    const often = orders.find((order) => orders.filter((one) => one === order).length > 2);
    if (often !== undefined) throw new Error(`${often} was`);
  },
};

test('an operator killed at any of its writes is followed by one that finishes the work, and does none of it again', {
  timeout: 60_000,
}, async () => {
  const scenario = [create('a', 'red'), create('b', 'blue'), repaint('a', 'green'), remove('b')];
  const writes = await crashAtEveryWrite({ world: widgetWorld, scenario, isConverged: areAll('a'), invariants });
  expect(writes).toBeGreaterThan(8);
});
