import { Simulation } from '@polder/embedded/simulation';
import { ConfigMap } from '@polder/kube';
import { expect, test } from 'vitest';
import { createFlow, flowWorld, isSettled, kafkaFlow, statusIn } from './world.ts';

test('a flow becomes a processor that runs', async () => {
  const simulation = await new Simulation({ seed: 1, world: flowWorld() }).start();
  await createFlow(kafkaFlow())(simulation.client);
  await simulation.until('it runs', isSettled, 60_000).catch((e) => {
    console.log(JSON.stringify(statusIn(simulation.state), null, 1));
    throw e;
  });
  console.log(JSON.stringify(statusIn(simulation.state), null, 1), simulation.living('operator')?.writes);
  console.log(JSON.stringify(simulation.state.list(ConfigMap, 'default').map((c) => c.metadata.name)));
  simulation.end();
});
