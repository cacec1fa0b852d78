import { expect, test } from 'vitest';
import { World } from './world.ts';

test('three peers join by bootstrap and agree on a leader', async () => {
  const world = await World.of(3);
  const views = await Promise.all([0, 1, 2].map((at) => world.asking(at, 'GET', '/cluster')));
  console.log(views.map((v) => v.text).join('\n'));
  console.log((await world.create(1, 'a', { replication_factor: 2, shard_number: 6 })).text);
  await world.rest();
  console.log((await world.ask(1, 'GET', '/collections/a/cluster')).text);
  console.log((await world.upsert(2, 'a', [1, 2, 3])).text, await world.numbers(0, 'a'));
  console.log(world.clock.pending);
  expect(1).toBe(1);
});
