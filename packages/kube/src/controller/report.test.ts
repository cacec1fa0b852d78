import { beforeEach, describe, expect, test } from 'vitest';
import { TestCluster } from '../../test/test-cluster.ts';
import { Widget } from '../../test/widgets.ts';
import type { Happening } from '../events/index.ts';
import { EventsV1Event } from '../kinds/index.ts';
import { register } from '../manager/index.ts';
import { type Controller, controller, type World } from './controller.ts';
import type { Step } from './plan.ts';

let cluster: TestCluster;
beforeEach(async () => {
  cluster = await new TestCluster().install();
});

type Told = Partial<Pick<Controller<Widget, void, Step, World>, 'observe' | 'failed'>> & {
  events?: readonly Happening[];
};

/** Runs a controller that does nothing but tell; returns what it told of a widget. */
async function told({ events, observe = async () => {}, failed }: Told) {
  const telling = controller<Widget, void, Step, World>({
    kind: Widget,
    observe,
    plan: () => ({ objects: [], steps: [], held: [], status: { part: 'red' }, ...(events && { events }) }),
    steps: {},
    ...(failed && { failed }),
  });
  cluster.operator({ products: [{ name: 'telling', fieldManager: 'telling', controllers: [register(telling)] }] });
  await cluster.create('a', 'red');
  await cluster.clock.advance(10_000);
  const { items } = await cluster.client.list(EventsV1Event);
  const reasons = items.filter(({ regarding }) => regarding?.kind === 'Widget').map(({ reason }) => reason);
  return { reasons, status: (await cluster.get('a')).status };
}

describe('the events of a pass that changes the status', () => {
  const happening: Happening = { type: 'Normal', reason: 'Painted', action: 'Paint', note: 'it is red' };

  test.each([
    ['are the one that says how the resource is doing, if the plan has none to tell', undefined, ['Ready']],
    ['are those of the plan instead', [happening], ['Painted']],
    ['are none, if the plan says that it is no news', [], []],
  ])('%s', async (_what, events, expected) => {
    const { reasons } = await told(events ? { events } : {});
    expect(reasons).toEqual(expected);
  });
});

test('a pass that fails says in the status what its controller makes of it, beside the conditions', async () => {
  const observe = async () => {
    throw new Error('no paint');
  };
  const { status } = await told({ observe, failed: ({ status }) => ({ ...status, part: 'unpainted' }) });
  expect(status).toMatchObject({ part: 'unpainted', observedGeneration: 1 });
  expect(status?.conditions?.find(({ type }) => type === 'Ready')).toMatchObject({
    status: 'False',
    message: 'no paint',
  });
});
