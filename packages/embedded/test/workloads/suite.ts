import { topic as contractTopic, runTopics, type Server, type ServerUnderTest, type Topic } from '../contract/suite.ts';
import { Wire } from '../contract/wire.ts';
import { Workloads } from './workloads.ts';

export { expect } from 'vitest';

/** Promises of the controllers, the scheduler and the kubelets: what comes of an object by itself. */
export const topic = contractTopic<Workloads>;

export interface ClusterUnderTest extends ServerUnderTest {
  /** How long its controllers may take for anything, in milliseconds. */
  readonly patience: number;
}

/** Runs every topic on one cluster with simulated nodes. */
export function runWorkloads(
  server: Server,
  start: () => Promise<ClusterUnderTest>,
  topics: readonly Topic<Workloads>[],
): void {
  runTopics(server, `workloads on the ${server} cluster`, topics, async () => {
    const { transport, stop, patience } = await start();
    const world = await new Workloads(new Wire(transport), patience).open();
    return { world, stop };
  });
}
